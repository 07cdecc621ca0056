/**
 * Nodes register themselves and report their status. They must not influence scheduling: taints, and labels that others
 * rely on.
 */
import { semanticallyEqual } from '../../../../machinery/equality.ts'
import { forbiddenWrite } from '../../forbidden-write.ts'
import { type Node, type NodeWrite, quoted } from './write.ts'

export function admitNode(write: NodeWrite): void {
  const { operation, name } = write
  const node = quoted(write.node)
  if (name !== write.node) throw forbiddenWrite(write, `node ${node} is not allowed to modify node ${quoted(name)}`)
  if (operation === 'CREATE') {
    const { metadata, spec } = write.object as Node
    if (spec?.configSource)
      throw forbiddenWrite(write, `node ${node} is not allowed to create pods with a non-nil configSource`)
    const labels = forbiddenLabels(metadata.labels, {})
    if (labels.length > 0)
      throw forbiddenWrite(write, `node ${node} is not allowed to set the following labels: ${labels.join(', ')}`)
  }
  if (operation === 'UPDATE') {
    const now = write.object as Node
    const old = write.old as Node
    if (now.spec?.configSource && !semanticallyEqual(now.spec.configSource, old.spec?.configSource)) {
      throw forbiddenWrite(write, `node ${node} is not allowed to update configSource to a new non-nil configSource`)
    }
    if (!semanticallyEqual(now.spec?.taints, old.spec?.taints))
      throw forbiddenWrite(write, `node ${node} is not allowed to modify taints`)
    const labels = forbiddenLabels(now.metadata.labels, old.metadata.labels)
    if (labels.length > 0) throw forbiddenWrite(write, `is not allowed to modify labels: ${labels.join(', ')}`)
    // With a forged owner, the garbage collector would delete the node.
    if (!semanticallyEqual(now.metadata.ownerReferences, old.metadata.ownerReferences)) {
      throw forbiddenWrite(write, `node ${node} is not allowed to modify ownerReferences`)
    }
  }
}

type Labels = Readonly<Record<string, string>>

/** Returns the changed labels that a node may not change, sorted. */
export function forbiddenLabels(labels: Labels = {}, before: Labels = {}): string[] {
  const keys = new Set([...Object.keys(labels), ...Object.keys(before)])
  return [...keys].filter((key) => labelOf(labels, key) !== labelOf(before, key) && isForbidden(key)).sort()
}

const labelOf = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined

function isForbidden(key: string): boolean {
  const slash = key.indexOf('/')
  const domain = slash < 0 ? '' : key.slice(0, slash)
  if (isWithin(domain, 'node-restriction.kubernetes.io')) return true
  return (isWithin(domain, 'kubernetes.io') || isWithin(domain, 'k8s.io')) && !isKubelets(key, domain)
}

const isKubelets = (key: string, domain: string): boolean =>
  kubeletLabels.has(key) || isWithin(domain, 'kubelet.kubernetes.io') || isWithin(domain, 'node.kubernetes.io')

const isWithin = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`)

/** Labels by which kubelets describe their machine. */
const kubeletLabels: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
])
