/** Selects the controllers that `--controllers` names. */
import { ExplainedError } from '../lib/explained-error.ts'
import type { ControllerDescriptor } from './descriptor.ts'
import { descriptors } from './descriptors.ts'
import { type ControllerFlag, FlagValues } from './flags.ts'
import { noOpControllers } from './no-op-controllers.ts'

/** The flags of all controllers, without duplicates. */
export const controllerFlags: readonly ControllerFlag[] = [
  ...new Map(descriptors.flatMap(({ flags = [] }) => flags.map((flag) => [flag.name, flag] as const))).values(),
]

/** Names of the controllers that run only if `--controllers` names them. */
export const offByDefault: readonly string[] = descriptors.flatMap(({ name, isOffByDefault }) =>
  isOffByDefault ? [name] : [],
)

/**
 * Selects controllers as `--controllers` does: `*` stands for all that are on by default, `name` turns one on, `-name`
 * turns it off. Throws an ExplainedError for unknown names and invalid flags.
 */
export function selectControllers(
  chosen: readonly string[],
  flags: Readonly<Record<string, string>> = {},
): ControllerDescriptor[] {
  const on = new Set<ControllerDescriptor>()
  const off = new Set<ControllerDescriptor>()
  for (const choice of chosen) {
    if (choice === '*') {
      for (const descriptor of descriptors) if (!descriptor.isOffByDefault) on.add(descriptor)
      continue
    }
    const name = choice.replace(/^-/, '')
    if (noOpControllers.has(name)) continue
    const descriptor = named(name, choice)
    if (choice.startsWith('-')) off.add(descriptor)
    else on.add(descriptor)
  }
  const running = descriptors.filter((descriptor) => on.has(descriptor) && !off.has(descriptor))
  for (const { flags: own = [] } of running) new FlagValues(own, flags).check()
  return running
}

/** Throws an ExplainedError if a flag belongs to no controller. */
export function checkControllerFlags(flags: Readonly<Record<string, string>>): void {
  const known = new Set(controllerFlags.map(({ name }) => name))
  const unknown = Object.keys(flags).find((name) => !known.has(name))
  if (unknown !== undefined)
    throw new ExplainedError(`no controller has a flag --${unknown}: \`t8s controller-manager --help\` lists all flags`)
}

function named(name: string, choice: string): ControllerDescriptor {
  const descriptor = descriptors.find((one) => one.name === name || one.aliases?.includes(name))
  if (descriptor) return descriptor
  const known = [...descriptors.map((one) => one.name), ...noOpControllers.keys()]
  throw new ExplainedError(`"${choice}" is not in the list of known controllers: choose from *, ${known.join(', ')}`)
}
