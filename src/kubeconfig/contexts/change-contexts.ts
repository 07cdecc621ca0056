/**
 * What is done to contexts that are there: one is used, renamed or removed. Each throws an ExplainedError, and has
 * changed nothing then.
 */
import { ExplainedError } from '../../lib/explained-error.ts'
import type { ConfigSet } from './config-set.ts'
import { nearestName } from './nearest-name.ts'

/** Who says `use -`. */
const back = '-'

/** Makes a context the current one; `-` is the one before. Returns its name. */
export function useContext(config: ConfigSet, name: string): string {
  if (name === back && !config.previousContext)
    throw new ExplainedError('there is no context to go back to: t8s config use NAME has not been used here yet')
  const chosen = name === back && !config.has('context', back) ? config.previousContext! : name
  existing(config, chosen)
  if (config.currentContext !== chosen) config.currentContext = chosen
  return chosen
}

/** Gives a context another name. If it is the current one, it stays that. */
export function renameContext(config: ConfigSet, name: string, newName: string): void {
  existing(config, name)
  checkName(newName)
  if (name === newName)
    throw new ExplainedError(`the context is called ${quoted(name)} already: give it another name by -t`)
  if (config.has('context', newName)) {
    throw new ExplainedError(
      `there is a context called ${quoted(newName)} already: take another name, or remove that one by t8s config ` +
        `remove -n ${newName}`,
    )
  }
  const { currentContext } = config
  config.origin('context', name)?.document.rename('context', name, newName)
  // Where the name is said, it is said anew.
  if (currentContext === name) config.currentContext = newName
  if (config.previousContext === name) config.previousContext = newName
}

export interface Removed {
  /** Entries that went with it: `cluster "a"`. */
  readonly also: readonly string[]
  /** The file whose context of that name counts from now on. */
  readonly shadowedIn: string | undefined
  readonly wasCurrent: boolean
}

/** Removes a context, and its cluster and user if nothing else needs them. */
export function removeContext(config: ConfigSet, name: string): Removed {
  existing(config, name)
  const wasCurrent = config.currentContext === name
  const parts = (['cluster', 'user'] as const).map((kind) => ({ kind, part: config.text('context', name, kind) }))
  config.remove('context', name)
  const shadowedIn = config.origin('context', name)?.file
  const also = parts.flatMap(({ kind, part }) => {
    if (!part || !config.has(kind, part) || config.contextsWith(kind, part).length > 0) return []
    config.remove(kind, part)
    return [`${kind} ${quoted(part)}`]
  })
  if (shadowedIn === undefined) {
    if (wasCurrent) config.currentContext = undefined
    if (config.previousContext === name) config.previousContext = undefined
  }
  return { also, shadowedIn, wasCurrent: wasCurrent && shadowedIn === undefined }
}

/** Throws unless there is a context of that name, with the one that may be meant. */
export function existing(config: Pick<ConfigSet, 'names'>, name: string): void {
  const names = config.names('context')
  if (!names.includes(name)) throw noContext(name, names)
}

/** What is said of a name that no context has. */
export function noContext(name: string, names: readonly string[]): ExplainedError {
  const nearest = nearestName(name, names)
  const next = nearest
    ? `did you mean ${quoted(nearest)}?`
    : names.length > 0
      ? 't8s config list shows what is there'
      : 'there are none yet: t8s config import brings one'
  return new ExplainedError(`there is no context called ${quoted(name)}: ${next}`)
}

/** Names are for people and shells: a line, with something in it. */
export function checkName(name: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (name.trim() === '' || /[\u0000-\u001f\u007f]/.test(name))
    throw new ExplainedError(`${quoted(name)} is no name for a context: give it one of letters and digits`)
}

const quoted = (name: string): string => JSON.stringify(name)
