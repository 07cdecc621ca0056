/** PodCertificateRequests: kubelets request certificates for pods. Beta. */
import type { V1beta1PodCertificateRequest } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { immutable } from '../../machinery/validation/field-rules.ts'
import { age, column, name, resource } from '../resource.ts'
import { podRequestRules } from './rules/pod-certificate-rules.ts'
import { podRequestStatusRules } from './rules/pod-certificate-status-rules.ts'

type Request = Model<V1beta1PodCertificateRequest>

export const podCertificateRequests = resource<Request>({
  group: 'certificates.k8s.io',
  version: 'v1beta1',
  kind: 'PodCertificateRequest',
  plural: 'podcertificaterequests',
  model: 'V1beta1PodCertificateRequest',
  scope: 'Namespaced',
  subresources: { status: true },
  resetFields: { status: ['metadata', 'spec'] },
  requiresVersionOnUpdate: true,
  enabledByDefault: false,
  selectableFields: {
    'spec.signerName': ({ spec }) => spec?.signerName,
    'spec.podName': ({ spec }) => spec?.podName,
    'spec.nodeName': ({ spec }) => spec?.nodeName,
  },
  defaults: [
    ({ spec }) => {
      if (spec) spec.maxExpirationSeconds ??= 86400
    },
  ],
  prepare: { status: keepConditions },
  validate: {
    create: podRequestRules,
    update: ({ spec }, { spec: old }) => immutable(spec, 'spec', old),
    status: podRequestStatusRules,
  },
  columns: [
    name,
    column('PodName', ({ spec }) => spec?.podName ?? '', { description: 'The pod that the certificate is for.' }),
    column('ServiceAccountName', ({ spec }) => spec?.serviceAccountName ?? '', {
      description: 'The account that the pod runs as.',
    }),
    column('NodeName', ({ spec }) => spec?.nodeName ?? '', { description: 'The node that the pod runs on.' }),
    column('SignerName', ({ spec }) => spec?.signerName ?? '', { description: 'The requested signer.' }),
    column(
      'State',
      ({ status }) =>
        status?.conditions?.find(({ type }) => ['Issued', 'Denied', 'Failed'].includes(type))?.type ?? 'Pending',
      {
        description: 'The state of the request.',
      },
    ),
    age,
  ],
})

/** Keeps old conditions unchanged, and sets a missing lastTransitionTime of new ones. */
function keepConditions({ status }: Request, { status: before }: Request): void {
  if (!status?.conditions) return
  const now = `${new Date().toISOString().slice(0, 19)}Z`
  status.conditions = status.conditions.map(
    (condition) =>
      before?.conditions?.find(({ type }) => type === condition.type) ?? {
        ...condition,
        lastTransitionTime: condition.lastTransitionTime ?? now,
      },
  )
}
