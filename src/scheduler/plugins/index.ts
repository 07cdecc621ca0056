/** The plug-ins that the scheduler brings along, by their names. Which of them a profile uses, and how much they weigh, is its configuration. */
import type { PluginFactory, Registry } from '../framework/index.ts'
import { interPodAffinity } from './inter-pod-affinity/index.ts'
import { nodeName } from './node-name.ts'
import { podTopologySpread } from './pod-topology-spread/index.ts'

const all: readonly PluginFactory[] = [interPodAffinity, nodeName, podTopologySpread]

export const inTreePlugins: Registry = new Map(all.map((plugin) => [plugin.name, plugin]))
