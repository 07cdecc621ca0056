/** The plug-ins that every profile has, in upstream's order and with its weights, and how a profile changes them. */
import { extensionPoints } from '../profile/extension-points.ts'
import type { EnabledPlugin, PluginChoice, PluginSet } from '../profile/profile.ts'

export const defaultPlugins: readonly EnabledPlugin[] = [
  { name: 'SchedulingGates' },
  { name: 'PrioritySort' },
  { name: 'NodeUnschedulable' },
  { name: 'NodeName' },
  // Users ask for it with taints, so it weighs more.
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

/** The default plug-ins with the changes of a profile. */
export function withDefaultPlugins(own: PluginChoice = {}): PluginChoice {
  const choice = Object.fromEntries(extensionPoints.map((point) => [point, merged({}, own[point])]))
  return { ...choice, multiPoint: merged({ enabled: defaultPlugins }, own.multiPoint) }
}

/** A default plug-in that is named once more keeps its position, with the new weight. */
function merged({ enabled: given = [] }: PluginSet, { enabled = [], disabled = [] }: PluginSet = {}): PluginSet {
  const off = new Set(disabled.map(({ name }) => name))
  const replaced = new Set<string>()
  const retained = off.has('*')
    ? []
    : given
        .filter(({ name }) => !off.has(name))
        .map((plugin) => {
          const override = enabled.find(({ name }) => name === plugin.name)
          if (override) replaced.add(plugin.name)
          return override ?? plugin
        })
  return { enabled: [...retained, ...enabled.filter(({ name }) => !replaced.has(name))], disabled }
}
