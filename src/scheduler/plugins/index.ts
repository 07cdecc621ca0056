/** The in-tree plug-ins by name. A profile's configuration chooses and weighs them. */
import type { PluginFactory, Registry } from '../framework/index.ts'
import { defaultBinder } from './binding/default-binder.ts'
import { dynamicResources } from './dynamic-resources/index.ts'
import { interPodAffinity } from './inter-pod-affinity/index.ts'
import { nodeResourcesBalancedAllocation } from './node-resources/balanced-allocation.ts'
import { nodeResourcesFit } from './node-resources/fit.ts'
import { imageLocality } from './nodes/image-locality.ts'
import { nodeAffinity } from './nodes/node-affinity.ts'
import { nodeDeclaredFeatures } from './nodes/node-declared-features.ts'
import { nodeName } from './nodes/node-name.ts'
import { nodePorts } from './nodes/node-ports.ts'
import { nodeUnschedulable } from './nodes/node-unschedulable.ts'
import { taintToleration } from './nodes/taint-toleration.ts'
import { podTopologySpread } from './pod-topology-spread/index.ts'
import { defaultPreemption } from './preemption/default-preemption.ts'

import { prioritySort } from './queue/priority-sort.ts'
import { schedulingGates } from './queue/scheduling-gates.ts'
import { volumeBinding } from './volumes/binding/index.ts'
import { nodeVolumeLimits } from './volumes/limits/index.ts'
import { volumeRestrictions } from './volumes/restrictions/index.ts'
import { volumeZone } from './volumes/zone/index.ts'

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
  volumeRestrictions,
  nodeVolumeLimits,
  volumeBinding,
  volumeZone,
  podTopologySpread,
  interPodAffinity,
  dynamicResources,
  imageLocality,
  nodeDeclaredFeatures,
  defaultPreemption,
  defaultBinder,
]

export const inTreePlugins: Registry = new Map(all.map((plugin) => [plugin.name, plugin]))
