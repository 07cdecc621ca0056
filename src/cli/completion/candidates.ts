/** Completion candidates: commands, flags, their values and context names, derived from the commander definitions. */
import type { Command, Option } from 'commander'

export interface Candidate {
  readonly text: string
  readonly note: string
}

/** Reads the context names for a command line. */
export type ContextNames = (kubeconfig: string | undefined) => Promise<readonly Candidate[]>

/** Commands and flags whose value is an existing context. New names cannot be completed. */
const contextCommands = ['use', 'remove', 'show', 'check', 'export']
const contextFlags: Readonly<Record<string, readonly string[]>> = {
  '--name': ['use', 'rename', 'remove'],
  '--context': ['why'],
}

/** Returns the candidates for the last of `words`, which may be empty. `words` begin after the program's name. */
export async function candidates(
  program: Command,
  words: readonly string[],
  contextNames: ContextNames,
): Promise<Candidate[]> {
  const typed = words.at(-1) ?? ''
  const { command, path, pending, values, positionals } = walk(program, words.slice(0, -1))
  const starting = (found: readonly Candidate[], start = typed): Candidate[] =>
    found.filter(({ text }) => text.startsWith(start))
  const valuesFor = async (option: Option): Promise<readonly Candidate[]> => {
    if (option.argChoices) return option.argChoices.map((text) => ({ text, note: '' }))
    const commands = contextFlags[option.long ?? '']
    return commands && path.some((name) => commands.includes(name)) ? contextNames(values.get('--kubeconfig')) : []
  }
  if (pending) return starting(await valuesFor(pending))
  const equals = /^(--[\w-]+)=/.exec(typed)
  if (equals) {
    const option = optionOf(command, equals[1]!)
    return option
      ? starting((await valuesFor(option)).map(({ text, note }) => ({ text: `${equals[0]}${text}`, note })))
      : []
  }
  if (typed.startsWith('-') && typed !== '-') return starting(flags(command))
  const below = command.commands
    .filter((one) => !one.name().startsWith('__'))
    .map((one) => ({ text: one.name(), note: one.description() }))
  if (below.length > 0) return starting(below)
  if (positionals > 0) return []
  const [argument] = command.registeredArguments
  if (argument?.argChoices) return starting(argument.argChoices.map((text) => ({ text, note: '' })))
  return path[0] === 'config' && contextCommands.includes(command.name())
    ? starting(await contextNames(values.get('--kubeconfig')))
    : []
}

interface Position {
  readonly command: Command
  /** The typed commands, without the program's name. */
  readonly path: readonly string[]
  /** A flag whose value comes next. */
  readonly pending: Option | undefined
  readonly values: ReadonlyMap<string, string>
  readonly positionals: number
}

/** Parses the words that are complete. */
function walk(program: Command, words: readonly string[]): Position {
  let command = program
  let pending: Option | undefined
  let positionals = 0
  const path: string[] = []
  const values = new Map<string, string>()
  for (const word of words) {
    if (pending) {
      values.set(pending.long ?? '', word)
      pending = undefined
    } else if (word.startsWith('-') && word !== '-') {
      const [name, value] = word.split(/=(.*)/s)
      const option = optionOf(command, name!)
      if (option && value !== undefined) values.set(option.long ?? '', value)
      else if (option?.required) pending = option
    } else {
      const below = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
      if (below) {
        command = below
        path.push(below.name())
      } else positionals++
    }
  }
  return { command, path, pending, values, positionals }
}

const optionOf = (command: Command, name: string): Option | undefined =>
  command.options.find(({ long, short }) => long === name || short === name)

const flags = (command: Command): Candidate[] => [
  ...command.options
    .filter(({ hidden, long }) => !hidden && long)
    .map(({ long, description }) => ({ text: long!, note: description })),
  { text: '--help', note: 'show help' },
]
