/** Which controllers run: what `--controllers` says. */
import { ExplainedError } from '../lib/explained-error.ts'
import type { ControllerDescriptor } from './descriptor.ts'
import { descriptors } from './descriptors.ts'
import { type ControllerFlag, FlagValues } from './flags.ts'
import { withoutWork } from './names-without-work.ts'

/** All flags of all controllers, each once. */
export const controllerFlags: readonly ControllerFlag[] = [
  ...new Map(descriptors.flatMap(({ flags = [] }) => flags.map((flag) => [flag.name, flag] as const))).values(),
]

/** The names of those that run only where they are named. */
export const offByDefault: readonly string[] = descriptors.flatMap(({ name, onlyIfNamed }) =>
  onlyIfNamed ? [name] : [],
)

/**
 * As `--controllers`: `*` stands for all that are on by default, `name` turns one on, `-name` off. Throws an
 * ExplainedError for a name that no controller has, and for flags that make no sense.
 */
export function chosenControllers(
  chosen: readonly string[],
  flags: Readonly<Record<string, string>> = {},
): ControllerDescriptor[] {
  const on = new Set<ControllerDescriptor>()
  const off = new Set<ControllerDescriptor>()
  for (const choice of chosen) {
    if (choice === '*') {
      for (const descriptor of descriptors) if (!descriptor.onlyIfNamed) on.add(descriptor)
      continue
    }
    const name = choice.replace(/^-/, '')
    if (withoutWork.has(name)) continue
    const descriptor = named(name, choice)
    if (choice.startsWith('-')) off.add(descriptor)
    else on.add(descriptor)
  }
  const running = descriptors.filter((descriptor) => on.has(descriptor) && !off.has(descriptor))
  for (const { flags: own = [] } of running) new FlagValues(own, flags).check()
  return running
}

/** Throws an ExplainedError if there is no such flag. */
export function checkControllerFlags(flags: Readonly<Record<string, string>>): void {
  const known = new Set(controllerFlags.map(({ name }) => name))
  const unknown = Object.keys(flags).find((name) => !known.has(name))
  if (unknown !== undefined)
    throw new ExplainedError(`no controller has a flag --${unknown}: \`t8s controller-manager --help\` lists them`)
}

function named(name: string, choice: string): ControllerDescriptor {
  const descriptor = descriptors.find((one) => one.name === name || one.aliases?.includes(name))
  if (descriptor) return descriptor
  const known = [...descriptors.map((one) => one.name), ...withoutWork.keys()]
  throw new ExplainedError(`"${choice}" is not in the list of known controllers: choose of *, ${known.join(', ')}`)
}
