/** What a pod refers to, and so its node has to read: by name, in the pod's namespace. */
import type { V1Container, V1Pod, V1Volume } from '@kubernetes/client-node'
import type { Model, Wire } from '../../../machinery/object.ts'

export type Pod = Model<V1Pod> & { readonly status?: ClaimStatuses }
type Volume = Wire<V1Volume>
type Container = Wire<V1Container>

interface ClaimStatuses {
  readonly resourceClaimStatuses?: readonly { readonly name: string; readonly resourceClaimName?: string }[]
  readonly extendedResourceClaimStatus?: { readonly resourceClaimName?: string }
}

/** Static pods of a node have it. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror'

export const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.[mirrorAnnotation] !== undefined

const present = (names: readonly (string | undefined)[]): string[] =>
  names.filter((name): name is string => Boolean(name))

/** Secrets: of volumes, environments, and those that images are pulled with. */
export function secretsOf({ spec }: Pod): string[] {
  return present([
    ...(spec?.imagePullSecrets ?? []).map(({ name }) => name),
    ...containersOf(spec).flatMap(({ env = [], envFrom = [] }) => [
      ...envFrom.map(({ secretRef }) => secretRef?.name),
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ]),
    ...(spec?.volumes ?? []).flatMap(volumeSecrets),
  ])
}

const volumeSecrets = (volume: Volume): (string | undefined)[] => [
  volume.azureFile?.secretName,
  volume.cephfs?.secretRef?.name,
  volume.cinder?.secretRef?.name,
  volume.flexVolume?.secretRef?.name,
  ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
  volume.rbd?.secretRef?.name,
  volume.secret?.secretName,
  volume.scaleIO?.secretRef?.name,
  volume.iscsi?.secretRef?.name,
  volume.storageos?.secretRef?.name,
  volume.csi?.nodePublishSecretRef?.name,
]

/** Config maps: of volumes and environments. */
export function configMapsOf({ spec }: Pod): string[] {
  return present([
    ...containersOf(spec).flatMap(({ env = [], envFrom = [] }) => [
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
    ]),
    ...(spec?.volumes ?? []).flatMap(({ configMap, projected }) => [
      configMap?.name,
      ...(projected?.sources ?? []).map((source) => source.configMap?.name),
    ]),
  ])
}

/** Claims: those that are named, and those that are made for ephemeral volumes. */
export const claimsOf = ({ metadata, spec }: Pod): string[] =>
  present(
    (spec?.volumes ?? []).map(
      ({ name, persistentVolumeClaim, ephemeral }) =>
        persistentVolumeClaim?.claimName ?? (ephemeral && `${metadata.name}-${name}`),
    ),
  )

/** Resource claims: those that are named, and those that were made for the pod. */
export function resourceClaimsOf({ spec, status }: Pod): string[] {
  const made = new Map(status?.resourceClaimStatuses?.map(({ name, resourceClaimName }) => [name, resourceClaimName]))
  return present([
    ...(spec?.resourceClaims ?? []).map(({ name, resourceClaimName }) => resourceClaimName ?? made.get(name)),
    status?.extendedResourceClaimStatus?.resourceClaimName,
  ])
}

/** Ephemeral containers are containers here. */
const containersOf = (spec: Pod['spec']): readonly Pick<Container, 'env' | 'envFrom'>[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
  ...(spec?.ephemeralContainers ?? []),
]
