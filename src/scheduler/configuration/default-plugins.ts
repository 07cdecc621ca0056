/** The plug-ins that every profile has, in upstream's order and with its weights, and what a profile makes of them. */
import { extensionPoints } from '../profile/extension-points.ts'
import type { EnabledPlugin, PluginChoice, PluginSet } from '../profile/profile.ts'

export const defaultPlugins: readonly EnabledPlugin[] = [
  { name: 'SchedulingGates' },
  { name: 'PrioritySort' },
  { name: 'NodeUnschedulable' },
  { name: 'NodeName' },
  // It says what users want less of, so it counts for more.
  { name: 'TaintToleration', weight: 3 },
  { name: 'NodeAffinity', weight: 2 },
  { name: 'NodePorts' },
  { name: 'NodeResourcesFit', weight: 1 },
  { name: 'VolumeRestrictions' },
  { name: 'NodeVolumeLimits' },
  { name: 'VolumeBinding' },
  { name: 'VolumeZone' },
  { name: 'PodTopologySpread', weight: 2 },
  { name: 'InterPodAffinity', weight: 2 },
  { name: 'DynamicResources', weight: 2 },
  { name: 'DefaultPreemption' },
  { name: 'NodeResourcesBalancedAllocation', weight: 1 },
  { name: 'ImageLocality', weight: 1 },
  { name: 'DefaultBinder' },
  { name: 'NodeDeclaredFeatures' },
]

/** The defaults as a profile changes them. */
export function withDefaultPlugins(own: PluginChoice = {}): PluginChoice {
  const choice = Object.fromEntries(extensionPoints.map((point) => [point, merged({}, own[point])]))
  return { ...choice, multiPoint: merged({ enabled: defaultPlugins }, own.multiPoint) }
}

/** A plug-in that is named again keeps its place, and has what is said of it there. */
function merged({ enabled: given = [] }: PluginSet, { enabled = [], disabled = [] }: PluginSet = {}): PluginSet {
  const off = new Set(disabled.map(({ name }) => name))
  const replaced = new Set<string>()
  const kept = off.has('*')
    ? []
    : given
        .filter(({ name }) => !off.has(name))
        .map((plugin) => {
          const again = enabled.find(({ name }) => name === plugin.name)
          if (again) replaced.add(plugin.name)
          return again ?? plugin
        })
  return { enabled: [...kept, ...enabled.filter(({ name }) => !replaced.has(name))], disabled }
}
