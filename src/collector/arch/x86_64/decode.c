/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruction lengths by table, from the opcode maps of the architecture manual
 * (volume 2, appendix A), 64-bit mode.  One letter per opcode says what follows it:
 *   .  nothing              m  ModRM                  x  not an instruction
 *   b  8 bits               M  ModRM and 8 bits       r  32-bit distance
 *   z  16 or 32 bits        Z  ModRM and 16 or 32     v  up to 64 bits
 *   w  16 bits              e  24 bits                o  64-bit address
 *   g  ModRM, and 8 bits if its register field is 0 or 1; G with 16 or 32 bits
 */
#include "collector/arch/x86_64/decode.h"

#include "collector/arch/word.h"

static const char one_byte[257] = "mmmmbzxxmmmmbzxx"
				  "mmmmbzxxmmmmbzxx"
				  "mmmmbzxxmmmmbzxx"
				  "mmmmbzxxmmmmbzxx"
				  "xxxxxxxxxxxxxxxx"
				  "................"
				  "xxxmxxxxzZbM...."
				  "bbbbbbbbbbbbbbbb"
				  "MZxMmmmmmmmmmmmm"
				  "..........x....."
				  "oooo....bz......"
				  "bbbbbbbbvvvvvvvv"
				  "MMw.xxMZe.w..bx."
				  "mmmmxxx.mmmmmmmm"
				  "bbbbbbbbrrxb...."
				  "x.xx..gG......mm";

static const char two_byte[257] = "mmmmx.....x.xm.M"
				  "mmmmmmmmmmmmmmmm"
				  "mmmmxxxxmmmmmmmm"
				  "........xxxxxxxx"
				  "mmmmmmmmmmmmmmmm"
				  "mmmmmmmmmmmmmmmm"
				  "mmmmmmmmmmmmmmmm"
				  "MMMMmmm.mmxxmmmm"
				  "rrrrrrrrrrrrrrrr"
				  "mmmmmmmmmmmmmmmm"
				  "...mMmxx...mMmmm"
				  "mmmmmmmmmmMmmmmm"
				  "mmMmMMMm........"
				  "mmmmmmmmmmmmmmmm"
				  "mmmmmmmmmmmmmmmm"
				  "mmmmmmmmmmmmmmmm";

struct decoder {
	const uint8_t *at, *end;
	struct decoded *decoded;
	bool small; /* operand-size prefix */
	bool bad;
};

static uint8_t next(struct decoder *decoder)
{
	if (decoder->at == decoder->end) {
		decoder->bad = true;
		return 0;
	}
	return *decoder->at++;
}

static int32_t number(struct decoder *decoder, unsigned int size)
{
	const uint8_t *at = decoder->at;

	if ((uint64_t)(decoder->end - at) < size) {
		decoder->bad = true;
		return 0;
	}
	decoder->at += size;
	switch (size) {
	case 1:
		return (int8_t)*at;
	case 2:
		return (int16_t) * (const word16 *)at;
	case 4:
	case 8:
		return (int32_t) * (const word32 *)at;
	default:
		return 0;
	}
}

static void read_modrm(struct decoder *decoder)
{
	struct decoded *decoded = decoder->decoded;
	uint8_t modrm = next(decoder);
	unsigned int mod = modrm >> 6;
	bool far = mod == 0 && (modrm & 7) == 5; /* relative to the pc */

	decoded->modrm = modrm;
	decoded->has_modrm = true;
	if (mod == 3)
		return;
	if ((modrm & 7) == 4) {
		decoded->sib = next(decoder);
		far = mod == 0 && (decoded->sib & 7) == 5;
	}
	if (mod == 1)
		decoded->displacement = number(decoder, 1);
	else if (mod == 2 || far)
		decoded->displacement = number(decoder, 4);
}

static void read_operands(struct decoder *decoder, char form)
{
	struct decoded *decoded = decoder->decoded;
	unsigned int size = decoder->small && !(decoded->rex & 8) ? 2 : 4;

	if (form == 'm' || form == 'M' || form == 'Z' || form == 'g' || form == 'G')
		read_modrm(decoder);
	switch (form) {
	case 'b':
	case 'M':
		decoded->immediate = number(decoder, 1);
		break;
	case 'z':
	case 'Z':
		decoded->immediate = number(decoder, size);
		break;
	case 'v':
		decoded->immediate = number(decoder, decoded->rex & 8 ? 8 : size);
		break;
	case 'r':
		decoded->immediate = number(decoder, 4);
		break;
	case 'w':
		decoded->immediate = number(decoder, 2);
		break;
	case 'e':
		number(decoder, 3);
		break;
	case 'o':
		number(decoder, 8);
		break;
	case 'g':
	case 'G':
		if (!(decoded->modrm & 0x30))
			decoded->immediate = number(decoder, form == 'g' ? 1 : size);
		break;
	case 'x':
		decoder->bad = true;
		break;
	default:
		break;
	}
}

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
	       byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x64 ||
	       byte == 0x65;
}

/* VEX (c5: one more byte, c4: two) and EVEX (62: three): the map, then as without. */
static void read_vector(struct decoder *decoder, uint8_t prefix)
{
	uint8_t map = 1, opcode;

	if (prefix != 0xc5)
		map = next(decoder) & (prefix == 0x62 ? 7 : 0x1f);
	next(decoder);
	if (prefix == 0x62)
		next(decoder);
	opcode = next(decoder);
	decoder->decoded->map = 0xff;
	decoder->decoded->opcode = opcode;
	if (map == 1)
		read_operands(decoder, two_byte[opcode]);
	else
		read_operands(decoder, map == 3 ? 'M' : 'm');
}

static void read_opcode(struct decoder *decoder, uint8_t byte)
{
	struct decoded *decoded = decoder->decoded;

	if (byte != 0x0f) {
		decoded->opcode = byte;
		read_operands(decoder, one_byte[byte]);
		return;
	}
	decoded->map = 1;
	decoded->opcode = next(decoder);
	if (decoded->opcode == 0x38 || decoded->opcode == 0x3a) {
		decoded->map = decoded->opcode == 0x38 ? 2 : 3;
		decoded->opcode = next(decoder);
		read_operands(decoder, decoded->map == 2 ? 'm' : 'M');
		return;
	}
	read_operands(decoder, two_byte[decoded->opcode]);
}

bool decode(const uint8_t *at, const uint8_t *end, struct decoded *decoded)
{
	struct decoder decoder = {.at = at, .end = end, .decoded = decoded};
	uint8_t byte = next(&decoder);

	*decoded = (struct decoded){0};
	while (is_prefix(byte) && decoder.at - at < 15) {
		decoder.small |= byte == 0x66;
		byte = next(&decoder);
	}
	if (byte >> 4 == 4) {
		decoded->rex = byte;
		byte = next(&decoder);
	}
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		read_vector(&decoder, byte);
	else
		read_opcode(&decoder, byte);
	decoded->length = (uint8_t)(decoder.at - at);
	return !decoder.bad && decoded->length <= 15;
}
