/** Parses literals: numbers with their limits, strings and bytes with their escapes. */
import { UInt, type Value } from '../values.ts'
import type { Token } from './lexer.ts'

const maxInt = 2n ** 63n - 1n
const minInt = -(2n ** 63n)
const maxUint = 2n ** 64n - 1n

/** Returns the value of a literal's token, or the error. */
export function literalValue(token: Token, negative: boolean): { readonly value: Value } | { readonly fault: string } {
  switch (token.kind) {
    case 'int': {
      const value = negative ? -BigInt(token.text) : BigInt(token.text)
      return value > maxInt || value < minInt ? { fault: 'invalid int literal' } : { value }
    }
    case 'uint': {
      const value = BigInt(token.text.slice(0, -1))
      return value > maxUint ? { fault: 'invalid uint literal' } : { value: new UInt(value) }
    }
    case 'float': {
      const value = Number(token.text)
      return Number.isFinite(value) ? { value: negative ? -value : value } : { fault: 'invalid double literal' }
    }
    case 'bytes':
      return bytesValue(token.text)
    default:
      return stringValue(token.text)
  }
}

const simple: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
  '`': '`',
  '?': '?',
}
const escapes = /\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([\s\S]))|([^\\]+)/gu

function unquote(text: string): { readonly body: string; readonly raw: boolean } {
  const [lead = ''] = /^[a-zA-Z]*/.exec(text) ?? []
  const rest = text.slice(lead.length)
  const marks = rest.startsWith('"""') || rest.startsWith("'''") ? 3 : 1
  return { body: rest.slice(marks, -marks).replace(/\r\n?/g, '\n'), raw: /r/i.test(lead) }
}

function stringValue(text: string): { value: Value } | { fault: string } {
  const { body, raw } = unquote(text)
  if (raw || !body.includes('\\')) return { value: body }
  let value = ''
  for (const [, hex, short, long, octal, other, plain] of body.matchAll(escapes)) {
    if (plain !== undefined) value += plain
    else if (other !== undefined) value += simple[other] ?? other
    else {
      const code = octal === undefined ? Number.parseInt(hex ?? short ?? long ?? '', 16) : Number.parseInt(octal, 8)
      if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return { fault: 'invalid unicode code point' }
      value += String.fromCodePoint(code)
    }
  }
  return { value }
}

function bytesValue(text: string): { value: Value } | { fault: string } {
  const { body, raw } = unquote(text)
  if (raw || !body.includes('\\')) return { value: new TextEncoder().encode(body) }
  const parts: Uint8Array[] = []
  for (const [, hex, short, long, octal, other, plain] of body.matchAll(escapes)) {
    // Bytes have no code points beyond 255.
    if (short !== undefined || long !== undefined) return { fault: 'unable to unescape string' }
    if (hex !== undefined) parts.push(Uint8Array.of(Number.parseInt(hex, 16)))
    else if (octal !== undefined) parts.push(Uint8Array.of(Number.parseInt(octal, 8)))
    else parts.push(new TextEncoder().encode(plain ?? simple[other ?? ''] ?? ''))
  }
  return { value: new Uint8Array(Buffer.concat(parts)) }
}
