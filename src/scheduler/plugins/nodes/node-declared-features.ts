/** NodeDeclaredFeatures: a pod that needs a node feature fits only on nodes that declare it (KEP-5328). */
import type { Node, Pod } from '../../../client/kinds.ts'
import { on, type Plugin, pluginFactory, skip, unresolvable } from '../../framework/index.ts'

type PodSpec = NonNullable<Pod['spec']>

/** The features of 1.36 by declared name, with a function that returns true for pods that need them. */
const features: Readonly<Record<string, (spec: PodSpec) => boolean>> = {
  RestartAllContainersOnContainerExits: ({ containers, initContainers = [] }) =>
    [...containers, ...initContainers].some(({ restartPolicyRules }) =>
      restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
    ),
  UserNamespacesHostNetworkSupport: ({ hostNetwork, hostUsers }) => hostNetwork === true && hostUsers === false,
}

const neededBy = ({ spec }: Pod): readonly string[] =>
  spec ? Object.keys(features).filter((name) => features[name]?.(spec)) : []

const has = (node: Node, names: readonly string[]): boolean =>
  names.every((name) => node.status?.declaredFeatures?.includes(name))

const missing = unresolvable("node(s) didn't match Pod's required features")

export const nodeDeclaredFeatures = pluginFactory({
  name: 'NodeDeclaredFeatures',
  make: (): Plugin<readonly string[]> => ({
    events: [
      on('Node', ['Add', 'UpdateDeclaredFeature'], ({ pod }, before, after) => {
        const needed = neededBy(pod)
        return after !== undefined && has(after, needed) && !(before && has(before, needed))
      }),
      on(
        'Pod',
        ['Update'],
        ({ uid }, before, after) =>
          after?.metadata.uid === uid && before !== undefined && `${neededBy(before)}` !== `${neededBy(after)}`,
      ),
    ],
    preFilter({ pod }) {
      const needed = neededBy(pod)
      return needed.length === 0 ? skip : { state: needed }
    },
    filter: (needed, _pod, { node }) => (has(node, needed) ? undefined : missing),
  }),
})
