/** What Go's parser of JSON says of a text. */

/** What it says where V8's stopped; `error` is what that threw. */
export function goJsonError(text: string, error: Error): string {
  const position = /position (\d+)/.exec(error.message)
  // V8 names the character, but no place, where the text is no JSON from its beginning.
  const found = position ? text[Number(position[1])] : /^Unexpected token '(.)'/su.exec(error.message)?.[1]
  if (found === undefined || error.message.startsWith('Unterminated')) return 'unexpected end of JSON input'
  return `invalid character ${goCharacter(found)} looking for beginning of value`
}

const goCharacter = (character: string): string =>
  JSON.stringify(character)
    .replace(/^"|"$/g, "'")
    .replace(/\\u00(..)/, '\\x$1')
