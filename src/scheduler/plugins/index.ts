/** The plug-ins that the scheduler brings along, by their names. Which of them a profile uses, and how much they weigh, is its configuration. */
import type { PluginFactory, Registry } from '../framework/index.ts'
import { defaultBinder } from './binding/default-binder.ts'
import { nodeResourcesBalancedAllocation } from './node-resources/balanced-allocation.ts'
import { nodeResourcesFit } from './node-resources/fit.ts'
import { imageLocality } from './nodes/image-locality.ts'
import { nodeAffinity } from './nodes/node-affinity.ts'
import { nodeDeclaredFeatures } from './nodes/node-declared-features.ts'
import { nodeName } from './nodes/node-name.ts'
import { nodePorts } from './nodes/node-ports.ts'
import { nodeUnschedulable } from './nodes/node-unschedulable.ts'
import { taintToleration } from './nodes/taint-toleration.ts'
import { defaultPreemption } from './preemption/default-preemption.ts'
import { prioritySort } from './queue/priority-sort.ts'
import { schedulingGates } from './queue/scheduling-gates.ts'

const all: readonly PluginFactory[] = [
  prioritySort,
  schedulingGates,
  nodeName,
  nodeUnschedulable,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  nodeResourcesBalancedAllocation,
  imageLocality,
  nodeDeclaredFeatures,
  defaultPreemption,
  defaultBinder,
]

export const inTreePlugins: Registry = new Map(all.map((plugin) => [plugin.name, plugin]))
