/** The extension points by the names of the configuration, and which function of a plug-in stands for each. */
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

/** Whether the plug-in has something to say there. */
export function isAt(plugin: Plugin, point: ExtensionPoint): boolean {
  if (point === 'queueSort') return plugin.less !== undefined
  if (point === 'reserve') return plugin.reserve !== undefined || plugin.unreserve !== undefined
  return plugin[point] !== undefined
}
