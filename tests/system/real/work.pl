#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Hashes, regular expressions, fork, pipes, signals, eval, sort, a select with a timeout.
use strict;
use warnings;

my %words;
for my $i (1 .. 1500000) {
	my $word = 'w' . ($i * 7919 % 10007);
	$words{$word}++ if $word =~ /^w(\d)\d*[13579]$/ && $1 < 7;
}
my @best = (sort { $words{$b} <=> $words{$a} || $a cmp $b } keys %words)[0 .. 4];
print scalar(keys %words), " @best\n";

$| = 1;
my $alarms = 0;
$SIG{ALRM} = sub { $alarms++; die "alarm\n" };
for (1 .. 3) {
	eval { alarm 1 if $_ == 3; select undef, undef, undef, $_ == 3 ? 5 : 0.05; };
	print "eval $_: ", $@ || "done\n";
}
pipe my $in, my $out or die;
for my $child (1 .. 8) {
	my $pid = fork // die;
	next if $pid;
	close $in;
	my $sum = 0;
	$sum += $_ % $child for 1 .. 100000;
	syswrite $out, "$child $sum\n";
	exit $child;
}
close $out;
print sort <$in>;
my $statuses = 0;
while (wait > 0) { $statuses += $? >> 8 }
print "statuses $statuses, alarms $alarms\n";
print `echo backticks | tr a-z A-Z`;
system 'sh', '-c', 'exit 5';
printf "system %d\n", $? >> 8;
kill KILL => open(my $cat, '|-', 'cat') || die;
print close $cat ? "closed\n" : sprintf "signal %d\n", $? & 127;
