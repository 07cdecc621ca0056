/** What Go's parser of JSON says of a text. */
import { parseWholeJson } from '../../lib/exact-json.ts'

/** What it says where V8's stopped; `error` is what that threw. */
export function goJsonError(text: string, error: Error): string {
  const position = /position (\d+)/.exec(error.message)
  // V8 names the character, but no place, where the text is no JSON from its beginning.
  const found = position ? text[Number(position[1])] : /^Unexpected token '(.)'/su.exec(error.message)?.[1]
  if (found === undefined || error.message.startsWith('Unterminated')) return 'unexpected end of JSON input'
  return `invalid character ${goCharacter(found)} looking for beginning of value`
}

/** Reads JSON with all its integers exact. Throws an Error in the words of Go's parser. */
export function parseJson(text: string): unknown {
  try {
    return parseWholeJson(text)
  } catch (error) {
    throw new Error(goJsonError(text, error as Error))
  }
}

/** What a value is to Go that does not fit where it stands: `string`, `number`, `array`. */
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
