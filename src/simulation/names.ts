/**
 * The names that the simulation uses: labels, annotations and objects. docs/simulated-nodes.md lists them for users.
 */

const prefix = 'simulation.typernetes.io'

/** Nodes with this label are simulated, also those that the simulation did not create. */
export const nodeLabel = `${prefix}/node`
/** Its value on nodes that the simulation creates and deletes. */
export const fleetLabelValue = 'fleet'
/** The fleet of a simulated node: a fleet writes and deletes only its own nodes. */
export const ownerLabel = `${prefix}/owner`
/** The fleet of a cluster run by `t8s up`. */
export const upOwner = 'up'
/** The default fleet of `t8s simulated-nodes` (`--owner`). */
export const defaultOwner = 'simulated-nodes'
/** An annotation of nodes with their failure; set by `t8s node fail`. */
export const failureAnnotation = `${prefix}/failure`
/** The prefix of annotations of pods and nodes. */
export const annotationPrefix = `${prefix}/`

/** The ConfigMap with the size of an owner's fleet (`t8s scale nodes` changes it). */
export const fleetConfigMapOf = (owner: string) =>
  ({ namespace: 'kube-system', name: owner === upOwner ? 'simulated-nodes' : `simulated-nodes-of-${owner}` }) as const
/** Its keys: the number of nodes, and their groups as JSON. */
export const fleetSizeKey = 'nodes'
export const fleetGroupsKey = 'groups'

/** The user agent, and so the field manager: that of a kubelet. */
export const agentName = 'kubelet'
