/**
 * The names of admission plug-ins, upstream's: those of `--enable-admission-plugins`, and what is wrong with a choice
 * of them.
 */
import { pluginOrder } from '../admission/plugin-order.ts'
import { droppedPlugin } from './dropped-plugins.ts'

export const admissionPluginNames: readonly string[] = [...pluginOrder].sort()

/** What upstream says about a choice that cannot be; empty if all is well. */
export function admissionPluginErrors(enabled: readonly string[] = [], disabled: readonly string[] = []): string[] {
  const both = [...new Set(enabled)].filter((name) => disabled.includes(name))
  return [
    ...unknown('enable-admission-plugins', enabled),
    ...unknown('disable-admission-plugins', disabled),
    ...(both.length > 0
      ? [`[${both.sort().join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`]
      : []),
  ]
}

/** What upstream says about `--admission-control`, which names all that are on. */
export const admissionControlErrors = (names: readonly string[]): string[] => unknown('admission-control', names)

const unknown = (flag: string, names: readonly string[]): string[] =>
  names
    .filter((name) => !admissionPluginNames.includes(name))
    .map((name) => [`${flag} plugin "${name}" is unknown`, droppedPlugin(name)].filter(Boolean).join(': '))
