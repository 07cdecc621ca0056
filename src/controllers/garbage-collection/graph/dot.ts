/** Formats the graph as Graphviz dot with kube-controller-manager's attributes. Edges go from dependent to owner. */
import type { OwnerReference } from '../../../machinery/object.ts'
import type { Graph } from './graph.ts'
import { type Identity, isDeletingDependents, type Node } from './node.ts'

interface Vertex {
  readonly identity: Identity
  readonly missing?: boolean
  readonly beingDeleted?: boolean
  readonly deletingDependents?: boolean
  readonly virtual?: boolean
}

/** Formats all objects with owners or dependents; with uids, only their connected components. */
export function dotOf(graph: Graph, uids: readonly string[] = []): string {
  const nodes = (uids.length > 0 ? connectedTo(graph, uids) : [...graph.nodes()]).filter(
    ({ state, dependents }) => state.owners.length > 0 || dependents.size > 0,
  )
  const numbers = new Map<string, number>()
  const lines: string[] = []
  const add = (vertex: Vertex): void => {
    numbers.set(vertex.identity.uid, numbers.size)
    lines.push(...vertexLines(numbers.size - 1, vertex))
  }
  for (const { identity, state, resource } of nodes) {
    add({
      identity,
      beingDeleted: state.beingDeleted,
      deletingDependents: isDeletingDependents(state),
      virtual: !resource,
    })
  }
  for (const { state } of nodes)
    for (const owner of state.owners) if (!numbers.has(owner.uid)) add({ identity: identityOf(owner), missing: true })
  const edges = nodes.flatMap(({ identity, state }) =>
    state.owners.map(({ uid }) => `  ${numbers.get(identity.uid)} -> ${numbers.get(uid)};`),
  )
  return [
    'strict digraph full {',
    '  // Node definitions.',
    ...lines,
    '',
    '  // Edge definitions.',
    ...new Set(edges),
    '}',
  ].join('\n')
}

function connectedTo(graph: Graph, uids: readonly string[]): Node[] {
  const found = new Set<Node>()
  const next = [...uids]
  for (let uid = next.pop(); uid !== undefined; uid = next.pop()) {
    const node = graph.get(uid)
    if (!node || found.has(node)) continue
    found.add(node)
    for (const owner of node.state.owners) next.push(owner.uid)
    for (const { identity } of node.dependents) next.push(identity.uid)
  }
  return [...found]
}

const identityOf = ({ apiVersion, kind, name, uid }: OwnerReference): Identity => ({
  apiVersion,
  kind,
  namespace: '',
  name,
  uid,
})

function vertexLines(
  number: number,
  { identity, missing = false, beingDeleted = false, deletingDependents = false, virtual = false }: Vertex,
): string[] {
  const { apiVersion, kind, namespace, name, uid } = identity
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  const states = Object.entries({ beingDeleted, deletingDependents, virtual, missingFromGraph: missing }).flatMap(
    ([state, is]) => (is ? [state] : []),
  )
  const label = [
    `uid=${uid}`,
    `namespace=${namespace}`,
    `${kind}.${version}${group && `.${group}`}/${name}`,
    ...(states.length > 0 ? [states.join()] : []),
    '',
  ]
  const attributes = {
    label: label.join('\n'),
    group,
    version,
    kind,
    namespace,
    name,
    uid,
    missing,
    beingDeleted,
    deletingDependents,
    virtual,
  }
  return [
    `  ${number} [`,
    ...Object.entries(attributes).map(([key, value]) => `    ${key}=${quoted(String(value))}`),
    '  ];',
  ]
}

/** Escapes names, which are arbitrary in references. */
const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
