/** The projected volume with an API token, the cluster's CA certificate and the namespace (KEP-1205). */
import type { Container, PodSpec, Volume } from '../../../../api/core/pod/model.ts'
import { tokenVolumePrefix } from '../../../../api/core/pod/template-mates.ts'
import { generateName } from '../../../registry/write/create-object.ts'

const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'
/** In seconds: one hour, and seven seconds by which the server recognizes this default. */
const tokenSeconds = 3607

/** Mounts the volume in all containers that have no other mount at its path. */
export function mountToken(spec: PodSpec): void {
  const existing = spec.volumes?.find((volume) => volume.name.startsWith(tokenVolumePrefix))
  const name = existing?.name ?? generateName(tokenVolumePrefix)
  const isMounted = [...mountIn(spec.initContainers ?? [], name), ...mountIn(spec.containers ?? [], name)].includes(
    true,
  )
  if (!existing && isMounted) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)]
}

/** Returns for each container whether the volume was mounted. */
const mountIn = (containers: readonly Container[], name: string): boolean[] =>
  containers.map((container) => {
    if (container.volumeMounts?.some((mount) => mount.mountPath === mountPath)) return false
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }]
    return true
  })

const tokenVolume = (name: string): Volume => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 0o644,
  },
})
