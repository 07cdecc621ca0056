/** Errors of Go's JSON parser. */
import { parseExactJson } from '../../lib/exact-json.ts'

/** Converts an error of V8's JSON parser to Go's message. */
export function goJsonError(text: string, error: Error): string {
  const position = /position (\d+)/.exec(error.message)
  // V8 names the character, but no position, if the first character is invalid.
  const found = position ? text[Number(position[1])] : /^Unexpected token '(.)'/su.exec(error.message)?.[1]
  if (found === undefined || error.message.startsWith('Unterminated')) return 'unexpected end of JSON input'
  return `invalid character ${goCharacter(found)} looking for beginning of value`
}

/** Parses JSON with exact integers. Throws an Error with the message of Go's parser. */
export function parseJson(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch (error) {
    throw new Error(goJsonError(text, error as Error))
  }
}

/** Returns Go's name of a value's JSON type: `string`, `number`, `array`. */
export const goJsonType = (value: unknown): string =>
  Array.isArray(value)
    ? 'array'
    : typeof value === 'boolean'
      ? 'bool'
      : typeof value === 'bigint'
        ? 'number'
        : typeof value

const goCharacter = (character: string): string =>
  JSON.stringify(character)
    .replace(/^"|"$/g, "'")
    .replace(/\\u00(..)/, '\\x$1')
