/** Parses a command line with pflag's syntax and error messages. */

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
export class FlagError extends Error {
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

/** Types whose flags may have no value, with the value they get then. */
const alone: Partial<Record<FlagType, string>> = { bool: 'true', version: 'true' }

/** Parses `args`; `program` is its name in the error about positional arguments. Throws a FlagError. */
export function parseFlags(sets: readonly FlagSet[], args: readonly string[], program = 'kube-apiserver'): FlagValues {
  const flags = new Map(sets.flatMap((set) => set.flags.map((flag) => [flag.name, flag])))
  const shorts = new Map([...flags.values()].flatMap((flag) => (flag.short ? [[flag.short, flag] as const] : [])))
  const values = new FlagValues(flags)
  const words: string[] = []

  const set = (flag: Flag, text: string): void => {
    try {
      readers[flag.type](text, flag)
    } catch (error) {
      const name = flag.short ? `-${flag.short}, --${flag.name}` : `--${flag.name}`
      throw new FlagError(`invalid argument ${JSON.stringify(text)} for "${name}" flag: ${(error as Error).message}`)
    }
    values.add(flag.name, text)
  }

  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!
    if (arg === '--') {
      words.push(...args.slice(i + 1))
      break
    }
    if (arg.startsWith('--')) {
      const [, given = '', text] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(arg) ?? []
      if (given === '' || given.startsWith('-')) throw new FlagError(`bad flag syntax: ${arg}`)
      // Upstream accepts both.
      const flag = flags.get(given.replaceAll('_', '-'))
      if (!flag) throw unknownFlag(given)
      const value = text ?? alone[flag.type] ?? args[++i]
      if (value === undefined) throw new FlagError(`flag needs an argument: --${given}`)
      set(flag, value)
    } else if (arg.startsWith('-') && arg !== '-') {
      i += shortFlags(arg.slice(1), args[i + 1])
    } else {
      words.push(arg)
    }
  }
  if (words.length > 0)
    throw new FlagError(
      `"${program}" does not take any arguments, got [${words.map((word) => JSON.stringify(word)).join(' ')}]`,
    )
  const fault = featureGateFault(values.all('feature-gates'))
  if (fault) throw new FlagError(fault)
  return values

  /** `-v2`, `-v=2`, `-v 2`: returns the number of further arguments consumed. */
  function shortFlags(letters: string, next: string | undefined): number {
    for (let at = 0; at < letters.length; at++) {
      const letter = letters[at]!
      const flag = shorts.get(letter)
      if (!flag) throw new FlagError(`unknown shorthand flag: '${letter}' in -${letters}`)
      const rest = letters.slice(at + 1)
      if (rest.startsWith('=')) set(flag, rest.slice(1))
      else if (alone[flag.type]) {
        set(flag, alone[flag.type]!)
        continue
      } else if (rest !== '') set(flag, rest)
      else if (next !== undefined) {
        set(flag, next)
        return 1
      } else throw new FlagError(`flag needs an argument: '${letter}' in -${letters}`)
      return 0
    }
    return 0
  }
}

function unknownFlag(given: string): FlagError {
  const release = droppedIn(given.replaceAll('_', '-'))
  return new FlagError(`unknown flag: --${given}${release ? `: Kubernetes ${release} removed it` : ''}`)
}
