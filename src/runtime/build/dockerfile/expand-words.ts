/** Words of instructions: quotes, escaped characters and variables, as Docker reads them. */

/** The value of a variable; undefined if it is not set. */
export type Variables = (name: string) => string | undefined

/** An Error without a place: callers add it. */
export class WordError extends Error {}

/** Splits at blanks outside of quotes. Quotes and escaped characters remain. */
export function splitWords(text: string, escapeCharacter: string): string[] {
  const words: string[] = []
  let word = ''
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (char === escapeCharacter && quote !== "'" && at + 1 < text.length) word += char + text[++at]
    else if (quote === '' && /\s/.test(char)) {
      if (word !== '') words.push(word)
      word = ''
    } else {
      if (quote === '' && (char === '"' || char === "'")) quote = char
      else if (char === quote) quote = ''
      word += char
    }
  }
  if (word !== '') words.push(word)
  return words
}

/** Removes quotes, and replaces variables. Throws a WordError. */
export function expandWord(word: string, variables: Variables, escapeCharacter: string): string {
  return new WordExpander(word, variables, escapeCharacter).expand()
}

/** Replaces variables only: quotes remain. Throws a WordError. */
export function expandText(text: string, variables: Variables, escapeCharacter: string): string {
  return new WordExpander(text, variables, escapeCharacter, false).expand()
}

class WordExpander {
  readonly #text: string
  readonly #variables: Variables
  readonly #escapeCharacter: string
  readonly #hasQuotes: boolean
  #at = 0

  constructor(text: string, variables: Variables, escapeCharacter: string, hasQuotes = true) {
    this.#text = text
    this.#variables = variables
    this.#escapeCharacter = escapeCharacter
    this.#hasQuotes = hasQuotes
  }

  expand(): string {
    return this.#until('')
  }

  /** Reads until a character outside of quotes, or the end. */
  #until(end: string): string {
    let result = ''
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at]!
      if (end !== '' && char === end) return result
      this.#at++
      if (char === "'" && this.#hasQuotes) result += this.#single()
      else if (char === '"' && this.#hasQuotes) result += this.#double()
      else if (char === '$') result += this.#variable()
      else if (char === this.#escapeCharacter && this.#isEscaped()) result += this.#text[this.#at++]
      else result += char
    }
    if (end !== '') throw new WordError(`${end} is missing in ${JSON.stringify(this.#text)}`)
    return result
  }

  /** Without quotes, only a dollar and the character itself can be escaped. */
  #isEscaped(): boolean {
    const next = this.#text[this.#at]
    return next !== undefined && (this.#hasQuotes || next === '$' || next === this.#escapeCharacter)
  }

  #single(): string {
    const end = this.#text.indexOf("'", this.#at)
    if (end < 0) throw new WordError(`a quote is not closed in ${JSON.stringify(this.#text)}`)
    const content = this.#text.slice(this.#at, end)
    this.#at = end + 1
    return content
  }

  #double(): string {
    let result = ''
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at++]!
      const next = this.#text[this.#at]
      if (char === '"') return result
      if (char === '$') result += this.#variable()
      else if (char === this.#escapeCharacter && (next === '"' || next === '$' || next === this.#escapeCharacter)) {
        result += next
        this.#at++
      } else result += char
    }
    throw new WordError(`a quote is not closed in ${JSON.stringify(this.#text)}`)
  }

  /** After the dollar. */
  #variable(): string {
    if (this.#text[this.#at] !== '{') {
      const name = /^(?:[A-Za-z_]\w*|[0-9@*#?!$-])/.exec(this.#text.slice(this.#at))?.[0]
      if (name === undefined) return '$'
      this.#at += name.length
      return this.#variables(name) ?? ''
    }
    this.#at++
    const name = /^[A-Za-z_]\w*|^\d/.exec(this.#text.slice(this.#at))?.[0] ?? ''
    this.#at += name.length
    if (name === '') throw new WordError(`\${ has no name in ${JSON.stringify(this.#text)}`)
    const modifier = /^:?[-+?]|^\}/.exec(this.#text.slice(this.#at))?.[0]
    if (modifier === undefined)
      throw new WordError(
        `\${${name}${this.#text[this.#at] ?? ''}…} is not supported: use \${${name}}, \${${name}:-x} or \${${name}:+x}`,
      )
    this.#at += modifier.length
    if (modifier === '}') return this.#variables(name) ?? ''
    const word = this.#until('}')
    this.#at++
    return this.#modified(name, modifier, word)
  }

  #modified(name: string, modifier: string, word: string): string {
    const value = this.#variables(name)
    const isSet = modifier.startsWith(':') ? Boolean(value) : value !== undefined
    const kind = modifier.at(-1)
    if (kind === '+') return isSet ? word : ''
    if (isSet) return value!
    if (kind === '?') throw new WordError(`${name}: ${word || 'the variable is not set'}`)
    return word
  }
}
