/** NodeDeclaredFeatureValidator: rejects a change of a pod that its node does not support (KEP-5328). */
import type { V1Node } from '@kubernetes/client-node'
import type { Pod } from '../../../api/core/pod/model.ts'
import { after } from '../../../lib/flow/after.ts'
import { semanticallyEqual } from '../../../machinery/equality.ts'
import type { Model } from '../../../machinery/object.ts'
import { forbiddenWrite } from '../forbidden-write.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'

type Node = Model<V1Node>

/**
 * The features of 1.36 that a change of a pod may need, by the names that nodes declare. The other features matter only
 * for new pods.
 */
const features: Readonly<Record<string, (pod: Pod, old: Pod) => boolean>> = {
  InPlacePodLevelResourcesVerticalScaling: (pod, old) => !semanticallyEqual(pod.spec?.resources, old.spec?.resources),
  InPlacePodVerticalScalingInitContainers: (pod, old) =>
    (old.spec?.initContainers ?? []).some(
      ({ restartPolicy, resources }, at) =>
        restartPolicy !== 'Always' && !semanticallyEqual(resources, pod.spec?.initContainers?.[at]?.resources),
    ),
}

export function nodeDeclaredFeatureValidator({ registry, find }: PluginSources): AdmissionPlugin {
  const pods = find('v1/pods')
  const nodes = find('v1/nodes')
  return {
    name: 'NodeDeclaredFeatureValidator',
    handles: ['UPDATE'],
    validate(attributes) {
      if (attributes.resource !== pods || (attributes.subresource !== '' && attributes.subresource !== 'resize')) return
      const pod = attributes.object as Pod
      const nodeName = pod.spec?.nodeName
      if (!nodeName) return
      const needed = neededFor(pod, attributes.old as Pod)
      if (needed.length === 0) return
      return after(registry.get(nodes, nodes.key('', nodeName)), (found) => {
        if (!found) throw forbiddenWrite(attributes, `node ${JSON.stringify(nodeName)} not found`)
        const declared = found.parse<Node>().status?.declaredFeatures
        const missing = needed.filter((name) => !declared?.includes(name))
        if (missing.length > 0)
          throw forbiddenWrite(
            attributes,
            `pod update requires features ${missing.join(', ')} which are not available on node ` +
              `${JSON.stringify(nodeName)}`,
          )
      })
    },
  }
}

/** Returns the features that the node needs for this change. */
export const neededFor = (pod: Pod, old: Pod): readonly string[] =>
  Object.keys(features).filter((name) => features[name]?.(pod, old))
