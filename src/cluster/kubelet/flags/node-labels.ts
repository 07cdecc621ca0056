/** `--node-labels`: the labels that a kubelet may give its node, with upstream's errors. */
import { FlagError } from '../../../apiserver/serving-flags/parse.ts'
import { labelValue, qualifiedName } from '../../../machinery/validation/names.ts'

const prefixes = ['kubelet.kubernetes.io', 'node.kubernetes.io']
const known = [
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
]

/** Throws a FlagError for labels that the NodeRestriction plug-in would reject, and for invalid ones. */
export function checkNodeLabels(labels: Readonly<Record<string, string>>): void {
  const unknown = Object.keys(labels)
    .filter((key) => isOfKubernetes(key) && !isAllowed(key))
    .sort()
  if (unknown.length > 0)
    throw new FlagError(
      `unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [${unknown.join(' ')}]\n` +
        `--node-labels in the 'kubernetes.io' namespace must begin with an allowed prefix (${prefixes.join(', ')}) ` +
        `or be in the specifically allowed set (${known.join(', ')})`,
    )
  const faults = Object.entries(labels).flatMap(([key, value]) => [
    ...fault(key, qualifiedName(key)),
    ...fault(value, labelValue(value)),
  ])
  if (faults.length > 0) throw new FlagError(`invalid node labels: ${faults.join('; ')}`)
}

const fault = (text: string, reasons: readonly string[]): string[] =>
  reasons.length > 0 ? [`'${text}' - ${reasons.join(', ')}`] : []

const namespaceOf = (key: string): string => (key.includes('/') ? key.split('/', 1)[0]! : '')

const isBelow = (namespace: string, domain: string): boolean => namespace === domain || namespace.endsWith(`.${domain}`)

const isOfKubernetes = (key: string): boolean =>
  ['kubernetes.io', 'k8s.io'].some((domain) => isBelow(namespaceOf(key), domain))

const isAllowed = (key: string): boolean =>
  known.includes(key) || prefixes.some((prefix) => isBelow(namespaceOf(key), prefix))
