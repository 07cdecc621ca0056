/** The secrets that a pod references, checked against those of its service account. */
import type { Container, EphemeralContainer, PodSpec, Volume } from '../../../../api/core/pod/model.ts'

/** The secrets that an account with the annotation `kubernetes.io/enforce-mountable-secrets` allows. */
export interface AllowedSecrets {
  readonly account: string
  readonly secrets: readonly string[]
  readonly pullSecrets: readonly string[]
}

/** Describes the first secret that is not allowed; undefined if all are. */
export function secretFault(
  { volumes = [], initContainers = [], containers, imagePullSecrets = [] }: PodSpec,
  allowed: AllowedSecrets,
): string | undefined {
  const { account } = allowed
  for (const { secret } of volumes) {
    if (secret && !allowed.secrets.includes(secret.secretName ?? '')) {
      return (
        `volume with secret.secretName="${secret.secretName ?? ''}" is not allowed because service account ` +
        `${account} does not reference that secret`
      )
    }
  }
  const ofContainers =
    environmentFault('init container', initContainers, allowed) ??
    environmentFault('container', containers ?? [], allowed)
  if (ofContainers) return ofContainers
  const pull = imagePullSecrets.findIndex(({ name = '' }) => !allowed.pullSecrets.includes(name))
  if (pull === -1) return undefined
  return (
    `imagePullSecrets[${pull}].name="${imagePullSecrets[pull]?.name ?? ''}" is not allowed because service ` +
    `account ${account} does not reference that imagePullSecret`
  )
}

/** As `secretFault`, for environment variables. */
export function environmentFault(
  what: string,
  containers: readonly (Container | EphemeralContainer)[],
  { account, secrets }: AllowedSecrets,
): string | undefined {
  const fault = (name: string, variable: string, secret: string): string =>
    `${what} ${name} with ${variable} referencing secret.secretName="${secret}" is not allowed because service ` +
    `account ${account} does not reference that secret`
  for (const { name, env = [], envFrom = [] } of containers) {
    for (const { name: variable, valueFrom } of env) {
      const secret = valueFrom?.secretKeyRef && (valueFrom.secretKeyRef.name ?? '')
      if (secret !== undefined && !secrets.includes(secret)) return fault(name, `envVar ${variable}`, secret)
    }
    for (const { secretRef } of envFrom) {
      const secret = secretRef && (secretRef.name ?? '')
      if (secret !== undefined && !secrets.includes(secret)) return fault(name, 'envFrom', secret)
    }
  }
  return undefined
}

/** Returns true if a pod references any secret. */
export const namesSecrets = ({
  volumes = [],
  initContainers = [],
  containers,
  ephemeralContainers = [],
  imagePullSecrets = [],
}: PodSpec): boolean =>
  imagePullSecrets.length > 0 ||
  volumes.some(isSecret) ||
  [...initContainers, ...(containers ?? []), ...ephemeralContainers].some(
    ({ env = [], envFrom = [] }) =>
      env.some(({ valueFrom }) => valueFrom?.secretKeyRef) || envFrom.some(({ secretRef }) => secretRef),
  )

const isSecret = ({ name: _name, projected, ...sources }: Volume): boolean =>
  projected?.sources?.some(({ secret }) => secret) ||
  Object.values(sources).some(
    (source: object) => 'secretName' in source || 'secretRef' in source || 'nodePublishSecretRef' in source,
  )
