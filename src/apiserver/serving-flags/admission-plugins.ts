/**
 * Upstream's names of admission plug-ins, as in `--enable-admission-plugins`, and the validation of such lists.
 */
import { pluginOrder } from '../admission/plugin-order.ts'
import { droppedPlugin } from './dropped-plugins.ts'

export const admissionPluginNames: readonly string[] = [...pluginOrder].sort()

/** Upstream's errors for the flags that enable and disable plug-ins; empty if they are valid. */
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

/** Upstream's errors for `--admission-control`, the list of all enabled plug-ins. */
export const admissionControlErrors = (names: readonly string[]): string[] => unknown('admission-control', names)

const unknown = (flag: string, names: readonly string[]): string[] =>
  names
    .filter((name) => !admissionPluginNames.includes(name))
    .map((name) => [`${flag} plugin "${name}" is unknown`, droppedPlugin(name)].filter(Boolean).join(': '))
