/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/request.h"

#include "base/json.h"
#include "base/memory.h"

#include <ctype.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char type_of_json[] = "application/json; charset=utf-8";

void reply_fini(struct reply *reply)
{
	strbuf_fini(&reply->body);
	free(reply->cookie);
	*reply = (struct reply){0};
}

void reply_json(struct reply *reply, json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	reply->status = HTTP_OK;
	reply->type = type_of_json;
	strbuf_clear(&reply->body);
	strbuf_puts(&reply->body, text ? text : "null");
	free(text);
	json_decref(value);
}

void reply_error(struct reply *reply, enum http_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	reply_json(reply, json_pack("{s:{s:o}}", "error", "text", json_text(text)));
	reply->status = status;
	free(text);
}

void reply_nothing(struct reply *reply)
{
	reply->status = HTTP_NO_CONTENT;
	reply->type = NULL;
}

static int digit_of(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

static char *unescape(const char *text, size_t length)
{
	struct strbuf out = {0};

	for (size_t i = 0; i < length; i++) {
		bool coded = text[i] == '%' && i + 2 < length &&
			     isxdigit((unsigned char)text[i + 1]) &&
			     isxdigit((unsigned char)text[i + 2]);

		if (!coded) {
			strbuf_putc(&out, text[i] == '+' ? ' ' : text[i]);
			continue;
		}
		strbuf_putc(&out, (char)(digit_of(text[i + 1]) * 16 + digit_of(text[i + 2])));
		i += 2;
	}
	return strbuf_steal(&out);
}

char *request_argument(const struct request *request, const char *name)
{
	size_t length = strlen(name);

	for (const char *pair = request->query; pair && *pair;) {
		size_t size = strcspn(pair, "&");

		if (size > length && !strncmp(pair, name, length) && pair[length] == '=')
			return unescape(pair + length + 1, size - length - 1);
		pair += size + (pair[size] == '&');
	}
	return NULL;
}

bool request_is_left(const struct request *request)
{
	struct pollfd peer = {.fd = request->peer, .events = POLLRDHUP};

	return request->peer >= 0 && poll(&peer, 1, 0) > 0 &&
	       peer.revents & (POLLRDHUP | POLLHUP | POLLERR);
}
