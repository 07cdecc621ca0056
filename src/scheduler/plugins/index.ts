/** The plug-ins that the scheduler brings along, by their names. Which of them a profile uses, and how much they weigh, is its configuration. */
import type { PluginFactory, Registry } from '../framework/index.ts'
import { nodeName } from './node-name.ts'

const all: readonly PluginFactory[] = [
  nodeName, //
]

export const inTreePlugins: Registry = new Map(all.map((plugin) => [plugin.name, plugin]))
