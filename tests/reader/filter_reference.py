# SPDX-License-Identifier: Apache-2.0
"""
Filter expressions as trees: written out with no more parentheses than C needs, and evaluated for one event at a
time.  None stands for what is unknown.  Shares nothing with the project: the grammar is that of the manual page.
"""
MASK = 2 ** 64 - 1

# operator: (precedence, function)
BINARY = {
    '||': (1, None), '&&': (2, None),
    '|': (3, lambda x, y: x | y), '^': (4, lambda x, y: x ^ y), '&': (5, lambda x, y: x & y),
    '==': (6, lambda x, y: int(x == y)), '!=': (6, lambda x, y: int(x != y)),
    '<': (7, lambda x, y: int(x < y)), '>': (7, lambda x, y: int(x > y)),
    '<=': (7, lambda x, y: int(x <= y)), '>=': (7, lambda x, y: int(x >= y)),
    '<<': (8, lambda x, y: x << y & MASK if y < 64 else 0), '>>': (8, lambda x, y: x >> y if y < 64 else 0),
    '+': (9, lambda x, y: x + y & MASK), '-': (9, lambda x, y: x - y & MASK),
    '*': (10, lambda x, y: x * y & MASK), '/': (10, lambda x, y: x // y if y else None),
    '%': (10, lambda x, y: x % y if y else None),
}
UNARY = {'-': lambda x: -x & MASK, '!': lambda x: int(not x), '~': lambda x: ~x & MASK}
MEMBERSHIPS = ('IN', 'SOME IN', 'ORDERED IN')
ATOM = 99


def both(x, y, deciding):
    """&& (a 0 decides) and || (anything else does)."""
    known = [bool(v) for v in (x, y) if v is not None]
    if deciding in known:
        return int(deciding)
    return None if len(known) < 2 else int(not deciding)


class Number:
    level = ATOM

    def __init__(self, value, random=None):
        self.value = value
        self.form = random.choice(('{}', '{:#x}', '0{:o}')) if random else '{}'

    def text(self):
        return self.form.format(self.value)

    def value_of(self, _event):
        return self.value


class Property:
    level = ATOM

    def __init__(self, name, random=None):
        self.name = name
        self.shown = random.choice((name, name.lower(), name.capitalize())) if random else name

    def text(self):
        return self.shown

    def value_of(self, event):
        return event.get(self.name)


class Has(Property):
    def text(self):
        return f'HAS_PROP({self.shown})'

    def value_of(self, event):
        return int(event.get(self.name) is not None)


def enclosed(node, least):
    return node.text() if node.level >= least else f'({node.text()})'


class Unary:
    level = 11

    def __init__(self, operator, operand):
        self.operator, self.operand = operator, operand

    def text(self):
        return self.operator + enclosed(self.operand, 11)

    def value_of(self, event):
        value = self.operand.value_of(event)
        return None if value is None else UNARY[self.operator](value)


class Binary:
    def __init__(self, operator, left, right):
        self.operator, self.left, self.right = operator, left, right
        self.level, self.function = BINARY[operator]

    def text(self):
        chains = self.level not in (6, 7)
        left = enclosed(self.left, self.level if chains else self.level + 1)
        return f'{left} {self.operator} {enclosed(self.right, self.level + 1)}'

    def value_of(self, event):
        x, y = self.left.value_of(event), self.right.value_of(event)
        if not self.function:
            return both(x, y, self.operator == '||')
        return None if x is None or y is None else self.function(x, y)


class Choice:
    level = 0

    def __init__(self, condition, yes, no):
        self.parts = condition, yes, no

    def text(self):
        condition, yes, no = self.parts
        return f'{enclosed(condition, 1)} ? {yes.text()} : {enclosed(no, 0)}'

    def value_of(self, event):
        condition, yes, no = self.parts
        chosen = condition.value_of(event)
        return None if chosen is None else (yes if chosen else no).value_of(event)


class Membership:
    """Of numbers: both sides are lists of nodes."""
    level = 7

    def __init__(self, operator, left, right, bare=False):
        self.operator, self.left, self.right, self.bare = operator, left, right, bare

    def text(self):
        def listed(items, bare):
            if len(items) == 1:
                return enclosed(items[0], 8)
            inner = ', '.join(enclosed(item, 8) for item in items)
            return inner if bare else f'({inner})'
        return f'{listed(self.left, False)} {self.operator} {listed(self.right, self.bare)}'

    def value_of(self, event):
        left = [item.value_of(event) for item in self.left]
        right = [item.value_of(event) for item in self.right]

        def same(x, y):
            return None if x is None or y is None else int(x == y)

        def fold(values, deciding):
            result = int(not deciding)
            for value in values:
                result = both(result, value, deciding)
            return result
        if self.operator == 'ORDERED IN':
            return fold((fold((same(x, y) for x, y in zip(left, right[at:])), False)
                         for at in range(len(right) - len(left) + 1)), True)
        return fold((fold((same(x, y) for y in right), True) for x in left), self.operator == 'SOME IN')


class Stack:
    """Of functions.  The sets are what the patterns mean among all functions there are."""
    level = 7

    def __init__(self, form, patterns, sets):
        self.form, self.patterns, self.sets = form, patterns, sets

    def text(self):
        names = ', '.join(f'FNAME("{pattern}")' for pattern in self.patterns)
        names = names if len(self.patterns) == 1 else f'({names})'
        return {'leaf in': 'LEAF IN {}', 'leaf ==': 'LEAF == {}', 'in': '{} IN STACK', 'some': '{} SOME IN STACK',
                'ordered': '{} ORDERED IN STACK', 'all of': 'STACK IN {}', 'stack some': 'STACK SOME IN {}'}[self.form].format(names)

    def value_of(self, event):
        stack = event['STACK']  # outermost first
        union = set().union(*self.sets)
        if self.form in ('leaf in', 'leaf =='):
            return int(stack[-1] in union)
        if self.form == 'in':
            return int(bool(union) and union <= set(stack))
        if self.form in ('some', 'stack some'):
            return int(bool(union & set(stack)))
        if self.form == 'all of':
            return int(set(stack) <= union)
        length = len(self.sets)
        return int(any(all(function in part for function, part in zip(stack[at:at + length], sets))
                       for sets in (self.sets, self.sets[::-1]) for at in range(len(stack) - length + 1)))
