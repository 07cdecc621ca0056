/** Uses, renames or removes existing contexts. If a function throws an ExplainedError, it has changed nothing. */
import { ExplainedError } from '../../../lib/explained-error.ts'
import type { ConfigSet } from './config-set.ts'
import { nearestName } from './nearest-name.ts'

/** The argument of `use -`. */
const previousName = '-'

/** Makes a context the current one; `-` is the previous one. Returns its name. */
export function useContext(config: ConfigSet, name: string): string {
  if (name === previousName && !config.previousContext)
    throw new ExplainedError('there is no previous context: switch with t8s config use NAME first')
  const chosen = name === previousName && !config.has('context', previousName) ? config.previousContext! : name
  requireContext(config, chosen)
  if (config.currentContext !== chosen) config.currentContext = chosen
  return chosen
}

/** Renames a context; it stays the current one if it was. */
export function renameContext(config: ConfigSet, name: string, newName: string): void {
  requireContext(config, name)
  checkName(newName)
  if (name === newName)
    throw new ExplainedError(`the context is already named ${quoted(name)}: give another name with -t`)
  if (config.has('context', newName)) {
    throw new ExplainedError(
      `there is already a context named ${quoted(newName)}: choose another name, or remove that context with t8s ` +
        `config remove -n ${newName}`,
    )
  }
  const { currentContext } = config
  config.origin('context', name)?.document.rename('context', name, newName)
  // Update the references to the name.
  if (currentContext === name) config.currentContext = newName
  if (config.previousContext === name) config.previousContext = newName
}

export interface Removed {
  /** Entries that were removed with it: `cluster "a"`. */
  readonly also: readonly string[]
  /** The file whose context with the same name is used from now on. */
  readonly shadowedIn: string | undefined
  readonly wasCurrent: boolean
}

/** Removes a context, and its cluster and user if no other context uses them. */
export function removeContext(config: ConfigSet, name: string): Removed {
  requireContext(config, name)
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

/** Throws if there is no context with that name; the error suggests a similar name. */
export function requireContext(config: Pick<ConfigSet, 'names'>, name: string): void {
  const names = config.names('context')
  if (!names.includes(name)) throw noContext(name, names)
}

/** The error for a missing context. */
export function noContext(name: string, names: readonly string[]): ExplainedError {
  const nearest = nearestName(name, names)
  const next = nearest
    ? `did you mean ${quoted(nearest)}?`
    : names.length > 0
      ? 'list the contexts with t8s config list'
      : 'there are none yet: import one with t8s config import'
  return new ExplainedError(`there is no context named ${quoted(name)}: ${next}`)
}

/** Throws for a name that is empty or contains control characters. */
export function checkName(name: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it searches for
  if (name.trim() === '' || /[\u0000-\u001f\u007f]/.test(name))
    throw new ExplainedError(`${quoted(name)} is not a valid name for a context: use letters and digits`)
}

const quoted = (name: string): string => JSON.stringify(name)
