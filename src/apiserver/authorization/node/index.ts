/**
 * Node: kubelets may access what their own pods need, and nothing of others.
 * Rules: kubernetes.io/docs/reference/access-authn-authz/node
 */
import { after } from '../../../lib/flow/after.ts'
import { type AccessAttributes, allow, type Decision, noOpinion, type RuleSet } from '../authorizer.ts'
import type { Authorization, AuthorizationSources } from '../index.ts'
import { GraphPopulator } from './graph-populator.ts'
import type { NodeGraph } from './node-graph.ts'
import { nodeOf } from './node-identity.ts'
import { everyNodeMay } from './node-rules.ts'

export { nodeOf } from './node-identity.ts'

type Verdict = Decision | Promise<Decision>

const nothing: RuleSet = { resourceRules: [], nonResourceRules: [], incomplete: false }
const unlisted: RuleSet = {
  ...nothing,
  incomplete: true,
  evaluationError: 'node authorizer does not support user rule resolution',
}

export function nodeAuthorization(sources: AuthorizationSources): Authorization {
  const populator = new GraphPopulator(sources)
  return {
    authorizer: {
      name: 'Node',
      authorize: (attributes) => authorizeNode(attributes, () => populator.get()),
      rulesFor: (user) => (nodeOf(user) === undefined ? nothing : unlisted),
    },
    start: async () => {},
    stop: () => populator.stop(),
  }
}

/** Decides on a request of a node; no opinion on other users. The graph is loaded only if needed. */
export function authorizeNode(attributes: AccessAttributes, graph: () => NodeGraph | Promise<NodeGraph>): Verdict {
  const { user, info } = attributes
  const node = nodeOf(user)
  if (node === undefined) return noOpinion()
  if (node === '') return noOpinion(`unknown node for user ${JSON.stringify(user?.name)}`)
  if (!info.isResourceRequest) return noOpinion()
  const decide = own[`${info.group}/${info.resource}`]
  // Selectors are parsed lazily by getters: a spread copy would lack them.
  if (decide)
    return decide({
      user,
      info,
      fieldSelector: attributes.fieldSelector,
      labelSelector: attributes.labelSelector,
      node,
      graph,
    })
  const resource = info.subresource ? `${info.resource}/${info.subresource}` : info.resource
  return everyNodeMay(info.group, resource, info.verb) ? allow() : noOpinion()
}

interface NodeRequest extends AccessAttributes {
  readonly node: string
  readonly graph: () => NodeGraph | Promise<NodeGraph>
}

type Related = (graph: NodeGraph, node: string, namespace: string, name: string) => boolean

const related = ({ node, info, graph }: NodeRequest, isRelated: Related): Verdict => {
  if (!info.name) return noOpinion('No Object name found')
  return after(graph(), (known) =>
    isRelated(known, node, info.namespace, info.name)
      ? allow()
      : noOpinion(`no relationship found between node '${node}' and this object`),
  )
}

const readOne =
  (isRelated: Related) =>
  (question: NodeRequest): Verdict => {
    const { verb, subresource } = question.info
    if (verb !== 'get') return noOpinion('can only get individual resources of this type')
    return subresource ? noOpinion('cannot get subresource') : related(question, isRelated)
  }

/** A list or watch with the name of one object counts as reading it. */
const readNamespaced =
  (isRelated: Related) =>
  (question: NodeRequest): Verdict => {
    const { verb, subresource, namespace } = question.info
    if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return noOpinion('can only read resources of this type')
    if (subresource) return noOpinion('cannot read subresource')
    return namespace ? related(question, isRelated) : noOpinion('can only read namespaced object of this type')
  }

const usesClaim: Related = (graph, node, namespace, name) =>
  graph.refers(node, 'persistentvolumeclaim', namespace, name)
const usesAccount: Related = (graph, node, namespace, name) => graph.refers(node, 'serviceaccount', namespace, name)
const hasPod: Related = (graph, node, namespace, name) => graph.refers(node, 'pod', namespace, name)

const own: Readonly<Partial<Record<string, (question: NodeRequest) => Verdict>>> = {
  '/secrets': readNamespaced((graph, node, namespace, name) => graph.refers(node, 'secret', namespace, name)),
  '/configmaps': readNamespaced((graph, node, namespace, name) => graph.refers(node, 'configmap', namespace, name)),
  '/persistentvolumeclaims': (question) =>
    question.info.subresource !== 'status'
      ? readOne(usesClaim)(question)
      : question.info.verb === 'update' || question.info.verb === 'patch'
        ? related(question, usesClaim)
        : noOpinion('can only get/update/patch this type'),
  '/persistentvolumes': readOne((graph, node, _namespace, name) => graph.refersToVolume(node, name)),
  'resource.k8s.io/resourceclaims': readOne((graph, node, namespace, name) =>
    graph.refers(node, 'resourceclaim', namespace, name),
  ),
  'storage.k8s.io/volumeattachments': readOne((graph, node, _namespace, name) =>
    graph.owns(node, 'volumeattachment', '', name),
  ),
  'certificates.k8s.io/podcertificaterequests': podCertificateRequests,
  '/serviceaccounts': serviceAccounts,
  'coordination.k8s.io/leases': leases,
  'storage.k8s.io/csinodes': csiNodes,
  'resource.k8s.io/resourceslices': resourceSlices,
  '/nodes': nodes,
  '/pods': pods,
}

function serviceAccounts(question: NodeRequest): Verdict {
  const { verb, subresource, name } = question.info
  if (verb === 'get' && !subresource) return related(question, usesAccount)
  if (verb !== 'create' || !name) return noOpinion('can only create tokens for individual service accounts')
  return subresource === 'token'
    ? related(question, usesAccount)
    : noOpinion('can only create token subresource of serviceaccount')
}

const ownVerbs: ReadonlySet<string> = new Set(['get', 'create', 'update', 'patch', 'delete'])

/** The name is unknown on create: the plug-in NodeRestriction checks it. */
function leases({ node, info }: NodeRequest): Verdict {
  if (!ownVerbs.has(info.verb)) return noOpinion('can only get, create, update, patch, or delete a node lease')
  if (info.namespace !== 'kube-node-lease')
    return noOpinion('can only access leases in the "kube-node-lease" system namespace')
  return info.verb === 'create' || info.name === node
    ? allow()
    : noOpinion('can only access node lease with the same name as the requesting node')
}

function csiNodes({ node, info }: NodeRequest): Verdict {
  if (!ownVerbs.has(info.verb)) return noOpinion('can only get, create, update, patch, or delete a CSINode')
  if (info.subresource) return noOpinion('cannot authorize CSINode subresources')
  return info.verb === 'create' || info.name === node
    ? allow()
    : noOpinion('can only access CSINode with the same name as the requesting node')
}

function resourceSlices(question: NodeRequest): Verdict {
  const { verb, subresource } = question.info
  if (subresource) return noOpinion('cannot authorize ResourceSlice subresources')
  switch (verb) {
    case 'create':
      return allow()
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return related(question, (graph, node, _namespace, name) => graph.owns(node, 'resourceslice', '', name))
    case 'watch':
    case 'list':
    case 'deletecollection':
      if (selects(question, 'spec.nodeName') || selects(question, 'nodeName')) return allow()
      return noOpinion('can only list/watch/deletecollection resourceslices with nodeName field selector')
    default:
      return noOpinion(
        'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, ' +
          'delete, deletecollection',
      )
  }
}

function podCertificateRequests(question: NodeRequest): Verdict {
  const { verb, subresource } = question.info
  if (subresource) return noOpinion('nodes may not access the podcertificaterequest/status subresource')
  switch (verb) {
    case 'create':
      return allow()
    case 'get':
      return related(question, (graph, node, namespace, name) =>
        graph.owns(node, 'podcertificaterequest', namespace, name),
      )
    case 'list':
    case 'watch':
      return selects(question, 'spec.nodeName')
        ? allow()
        : noOpinion('can only list/watch podcertificaterequests with a spec.nodeName=this-node field selector')
    default:
      return noOpinion('nodes may only get, list, watch and create podcertificaterequests')
  }
}

/** Decides by name, so that a node can read its Node object before that exists. */
function nodes({ node, info }: NodeRequest): Verdict {
  const { verb, subresource, name } = info
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allow() : noOpinion()
  if (subresource) return noOpinion()
  switch (verb) {
    case 'create':
    case 'update':
    case 'patch':
      return allow()
    case 'get':
    case 'list':
    case 'watch':
      if (name === node) return allow()
      return noOpinion(
        name
          ? `node '${node}' cannot read '${name}', only its own Node object`
          : `node '${node}' cannot read all nodes, only its own Node object`,
      )
    default:
      return noOpinion()
  }
}

/** NodeRestriction checks the owner of written pods. */
function pods(question: NodeRequest): Verdict {
  const { verb, subresource, name } = question.info
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allow() : noOpinion()
  if (subresource === 'eviction') return verb === 'create' ? allow() : noOpinion()
  if (subresource) return noOpinion()
  switch (verb) {
    case 'create':
    case 'delete':
      return allow()
    case 'get':
      return readOne(hasPod)(question)
    case 'list':
    case 'watch':
      if (selects(question, 'spec.nodeName')) return allow()
      return name ? related(question, hasPod) : noOpinion('can only list/watch pods with spec.nodeName field selector')
    default:
      return noOpinion()
  }
}

/** Returns true if the field selector selects only objects of the node. */
const selects = ({ fieldSelector, node }: NodeRequest, field: string): boolean =>
  fieldSelector?.some(
    ({ key, operator, values }) => key === field && operator === 'In' && values?.length === 1 && values[0] === node,
  ) ?? false
