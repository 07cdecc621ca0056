/** The extension points by their names in the configuration, and the functions of plug-ins that implement them. */
import type { Plugin } from '../framework/plugin.ts'

export const extensionPoints = [
  'preEnqueue',
  'queueSort',
  'preFilter',
  'filter',
  'postFilter',
  'preScore',
  'score',
  'reserve',
  'permit',
  'preBind',
  'bind',
  'postBind',
] as const

export type ExtensionPoint = (typeof extensionPoints)[number]

/** Returns true if the plug-in implements the extension point. */
export function implementsPoint(plugin: Plugin, point: ExtensionPoint): boolean {
  if (point === 'queueSort') return plugin.less !== undefined
  if (point === 'reserve') return plugin.reserve !== undefined || plugin.unreserve !== undefined
  return plugin[point] !== undefined
}
