/** Parses a command line with pflag's syntax and error messages. */

import { ExplainedError } from '../../lib/explained-error.ts'
import {
  configurationMap,
  goBool,
  goDurationMs,
  goFloat,
  goInt,
  goIp,
  goList,
  goMap,
  goPair,
  namedCertKey,
  portRange,
} from '../../lib/go/flag-values.ts'
import { featureGateFault } from '../feature-gates/index.ts'
import { droppedIn } from './dropped-flags.ts'
import type { Flag, FlagSet, FlagType } from './flag.ts'

/** An invalid command line. The message is pflag's, without the leading `Error: `. */
export class FlagError extends ExplainedError {
  constructor(message: string) {
    super(message)
    this.name = 'FlagError'
  }
}

/** The values of a command line; getters return undefined for flags that were not given. */
export class FlagValues {
  readonly #texts = new Map<string, string[]>()
  readonly #flags: ReadonlyMap<string, Flag>

  constructor(flags: ReadonlyMap<string, Flag>) {
    this.#flags = flags
  }

  /** The given flags in the order of the command line. */
  get given(): Flag[] {
    return [...this.#texts.keys()].flatMap((name) => this.#flags.get(name) ?? [])
  }

  add(name: string, text: string): void {
    this.#texts.set(name, [...(this.#texts.get(name) ?? []), text])
  }

  text(name: string): string | undefined {
    return this.#texts.get(name)?.at(-1)
  }

  /** All given values of a flag, unparsed. */
  all(name: string): readonly string[] {
    return this.#texts.get(name) ?? []
  }

  bool(name: string): boolean | undefined {
    return this.#last(name, goBool)
  }

  int(name: string): number | undefined {
    return this.#last(name, goInt)
  }

  float(name: string): number | undefined {
    return this.#last(name, goFloat)
  }

  durationMs(name: string): number | undefined {
    return this.#last(name, goDurationMs)
  }

  /** A list, given as one comma-separated value or several values. */
  list(name: string): string[] | undefined {
    const { type = 'strings' } = this.#flags.get(name) ?? {}
    const split = type === 'stringArray' || type === 'namedCertKey' ? (text: string) => [text] : goList
    return this.#texts.get(name)?.flatMap(split)
  }

  /** The last value of a key wins. */
  map(name: string): ReadonlyMap<string, string> | undefined {
    const texts = this.#texts.get(name)
    return texts && new Map(texts.flatMap(configurationMap))
  }

  /** The pairs of a flag that is given once per pair. */
  pairs(name: string): [string, string][] {
    return this.#texts.get(name)?.map(goPair) ?? []
  }

  #last<T>(name: string, read: (text: string) => T): T | undefined {
    const text = this.text(name)
    return text === undefined ? undefined : read(text)
  }
}

const asText = (text: string): string => text

/** Parsers by type; they throw a ValueError for invalid values. */
const readers: Readonly<Record<FlagType, (text: string, flag: Flag) => unknown>> = {
  bool: goBool,
  version: asText,
  string: asText,
  strings: goList,
  stringArray: asText,
  int: goInt,
  float: goFloat,
  duration: goDurationMs,
  ip: goIp,
  stringToString: (text, { name }) => (name === 'runtime-config' ? configurationMap(text) : goMap(text)),
  mapStringString: goPair,
  // Validated after all values are parsed.
  featureGates: asText,
  namedCertKey,
  portRange,
}

/** Types whose value may be omitted, with the value that they get then. */
const valuesIfOmitted: Partial<Record<FlagType, string>> = { bool: 'true', version: 'true' }

/** Parses `args`; `program` is its name in the error about positional arguments. Throws a FlagError. */
export function parseFlags(sets: readonly FlagSet[], args: readonly string[], program = 'kube-apiserver'): FlagValues {
  const { values, positional } = new FlagParser(sets, args).parse()
  if (positional.length > 0)
    throw new FlagError(
      `"${program}" does not take any arguments, got [${positional.map((word) => JSON.stringify(word)).join(' ')}]`,
    )
  const fault = featureGateFault(values.all('feature-gates'))
  if (fault) throw new FlagError(fault)
  return values
}

/** Reads the arguments of one command line from left to right. */
class FlagParser {
  readonly #flags: ReadonlyMap<string, Flag>
  readonly #shorthands: ReadonlyMap<string, Flag>
  readonly #values: FlagValues
  readonly #positional: string[] = []
  /** The arguments that are not read yet. */
  readonly #remaining: string[]

  constructor(sets: readonly FlagSet[], args: readonly string[]) {
    const flags = sets.flatMap((set) => set.flags)
    this.#flags = new Map(flags.map((flag) => [flag.name, flag]))
    this.#shorthands = new Map(
      [...this.#flags.values()].flatMap((flag) => (flag.short ? [[flag.short, flag] as const] : [])),
    )
    this.#values = new FlagValues(this.#flags)
    this.#remaining = [...args]
  }

  parse(): { readonly values: FlagValues; readonly positional: readonly string[] } {
    for (let arg = this.#next(); arg !== undefined; arg = this.#next()) {
      if (arg === '--') this.#positional.push(...this.#remaining.splice(0))
      else if (arg.startsWith('--')) this.#readLong(arg)
      else if (arg.startsWith('-') && arg !== '-') this.#readShorthands(arg.slice(1))
      else this.#positional.push(arg)
    }
    return { values: this.#values, positional: this.#positional }
  }

  #next(): string | undefined {
    return this.#remaining.shift()
  }

  /** Reads `--name`, `--name=value` or `--name value`. */
  #readLong(arg: string): void {
    const [, name = '', text] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(arg) ?? []
    if (name === '' || name.startsWith('-')) throw new FlagError(`bad flag syntax: ${arg}`)
    // Upstream accepts underscores too.
    const flag = this.#flags.get(name.replaceAll('_', '-'))
    if (!flag) throw unknownFlag(name)
    const value = text ?? valuesIfOmitted[flag.type] ?? this.#next()
    if (value === undefined) throw new FlagError(`flag needs an argument: --${name}`)
    this.#set(flag, value)
  }

  /** Reads `-v2`, `-v=2`, `-v 2`; flags without a value may be followed by more letters. */
  #readShorthands(letters: string): void {
    for (let at = 0; at < letters.length; at++) {
      const letter = letters[at]!
      const flag = this.#shorthands.get(letter)
      if (!flag) throw new FlagError(`unknown shorthand flag: '${letter}' in -${letters}`)
      const rest = letters.slice(at + 1)
      const valueIfOmitted = valuesIfOmitted[flag.type]
      if (valueIfOmitted && !rest.startsWith('=')) {
        this.#set(flag, valueIfOmitted)
        continue
      }
      const value = rest.startsWith('=') ? rest.slice(1) : rest || this.#next()
      if (value === undefined) throw new FlagError(`flag needs an argument: '${letter}' in -${letters}`)
      this.#set(flag, value)
      return
    }
  }

  #set(flag: Flag, text: string): void {
    try {
      readers[flag.type](text, flag)
    } catch (error) {
      const name = flag.short ? `-${flag.short}, --${flag.name}` : `--${flag.name}`
      throw new FlagError(`invalid argument ${JSON.stringify(text)} for "${name}" flag: ${(error as Error).message}`)
    }
    this.#values.add(flag.name, text)
  }
}

function unknownFlag(given: string): FlagError {
  const release = droppedIn(given.replaceAll('_', '-'))
  return new FlagError(`unknown flag: --${given}${release ? `: Kubernetes ${release} removed it` : ''}`)
}
