/**
 * What the simulation calls things: its labels, annotations and objects. docs/simulated-nodes.md lists them for users.
 */

const prefix = 'simulation.typernetes.io'

/** Nodes with this label are simulated, whoever has made them. */
export const nodeLabel = `${prefix}/node`
/** Its value on nodes that the simulation has made, and removes again. */
export const fleetLabelValue = 'fleet'
/** Its value names the fleet that a simulated node belongs to: a fleet writes and removes its own nodes alone. */
export const ownerLabel = `${prefix}/owner`
/** The fleet of a cluster that `t8s up` runs. */
export const upOwner = 'up'
/** The fleet of `t8s simulated-nodes`, unless `--owner` names another. */
export const usualOwner = 'simulated-nodes'
/** How a node fails: the value of this annotation of a node (`t8s node fail` sets it). */
export const failureAnnotation = `${prefix}/failure`
/** The annotations of pods and nodes begin with this. */
export const annotationPrefix = `${prefix}/`

/** How many nodes an owner's fleet has: a ConfigMap (`t8s scale nodes` changes it). */
export const fleetConfigMapOf = (owner: string) =>
  ({ namespace: 'kube-system', name: owner === upOwner ? 'simulated-nodes' : `simulated-nodes-of-${owner}` }) as const
/** The keys in it: how many, and what they are like (groups, as JSON). */
export const fleetSizeKey = 'nodes'
export const fleetGroupsKey = 'groups'

/** The program's name to the server, and so the field manager: a kubelet's. */
export const agentName = 'kubelet'
export const leaseNamespace = 'kube-node-lease'
