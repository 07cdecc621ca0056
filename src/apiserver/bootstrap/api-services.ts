/** An APIService for each group version that this server serves itself, as the aggregator lists them. */
import type { KubeObject, Unstructured } from '../../machinery/object.ts'
import { timestamp } from '../registry/write/write-context.ts'

/** The core group comes first, then groups by and by less important; newer versions before older ones. */
const groupPriority = (group: string): number => (group === '' ? 18000 : 17800)
const versionPriority = (version: string): number => (/^v\d+$/.test(version) ? 15 : version.includes('beta') ? 9 : 1)

export const apiServices = (groupVersions: readonly { readonly group: string; readonly version: string }[]): KubeObject[] =>
  groupVersions.map(
    ({ group, version }) =>
      ({
        kind: 'APIService',
        apiVersion: 'apiregistration.k8s.io/v1',
        metadata: { name: `${version}.${group}`, labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
        spec: { ...(group && { group }), version, groupPriorityMinimum: groupPriority(group), versionPriority: versionPriority(version) },
        status: {
          conditions: [
            { type: 'Available', status: 'True', lastTransitionTime: timestamp(), reason: 'Local', message: 'Local APIServices are always available' },
          ],
        },
      }) as Unstructured,
  )
