/** Texts as Go's JSON encoder writes them: what most texts need nothing for is looked at once. */
import { goJson } from '../../../machinery/fields/json.ts'

const plain = /^[\x20\x21\x23-\x25\x27-\x3b\x3d\x3f-\x5b\x5d-\x7e]*$/

/** What stands between the quotes. */
export const jsonInner = (text: string): string => (plain.test(text) ? text : goJson(text).slice(1, -1))

/** Whether a text, and whatever is cut out of it, is in JSON what it is. */
export const isPlain = (text: string): boolean => plain.test(text)

export const jsonText = (text: string): string => (plain.test(text) ? `"${text}"` : goJson(text))

export const jsonTexts = (texts: readonly string[]): string => `[${texts.map(jsonText).join(',')}]`

const mostRemembered = 512

/** Remembers what was made of the texts that come again and again; forgets all of it when there are too many. */
export function remembered(make: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    let made = known.get(text)
    if (made === undefined) {
      made = make(text)
      if (known.size >= mostRemembered) known.clear()
      known.set(text, made)
    }
    return made
  }
}
