/**
 * Validation of volumes with files from the API: keys of Secrets and ConfigMaps, fields of the pod, tokens,
 * certificates.
 */

import { validateLabelSelector } from '../../../../../machinery/selectors/label-selector.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../../../machinery/validation/field-error.ts'
import { all, each, requiredText, valid } from '../../../../../machinery/validation/field-rules.ts'
import {
  optional,
  labelSelector as shownSelector,
  struct,
  text,
} from '../../../../../machinery/validation/internal-type.ts'
import { dnsSubdomain } from '../../../../../machinery/validation/names.ts'
import { signerNameRules } from '../../../../certificates/rules/signer-name.ts'
import { userAnnotations } from '../../../../certificates/rules/user-annotations.ts'
import type { Volume } from '../../model.ts'
import { fieldRef, resourceFieldRef } from '../containers/environment.ts'
import { ownPath } from './paths.ts'

interface KeyToPath {
  key: string
  path: string
  mode?: number
}
type DownwardFile = NonNullable<NonNullable<Volume['downwardAPI']>['items']>[number]
type Projected = NonNullable<Volume['projected']>
type Source = NonNullable<Projected['sources']>[number]

export const fileMode = (mode: number | undefined, path: string): readonly FieldError[] =>
  mode !== undefined && (mode < 0 || mode > 0o777)
    ? [invalidValue(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')]
    : valid

const keyToPath = ({ key, path: target, mode }: KeyToPath, path: string): readonly FieldError[] =>
  all(
    requiredText(key, `${path}.key`),
    target ? ownPath(target, `${path}.path`) : [required(`${path}.path`)],
    fileMode(mode, `${path}.mode`),
  )

/** Validates `items` of a Secret or ConfigMap. */
export const items = (list: readonly KeyToPath[] | undefined, path: string): readonly FieldError[] =>
  each(list, `${path}.items`, keyToPath)

/** Validates a downward API file. Upstream's paths omit the item's index. */
export function downwardFile(file: DownwardFile, path: string): readonly FieldError[] {
  const errors: FieldError[] = []
  if (!file.path) errors.push(required(`${path}.path`))
  errors.push(...ownPath(file.path ?? '', `${path}.path`))
  if (file.fieldRef) {
    errors.push(...fieldRef(file.fieldRef, `${path}.fieldRef`, 'volume'))
    if (file.resourceFieldRef)
      errors.push(invalidValue(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'))
  } else if (file.resourceFieldRef)
    errors.push(...resourceFieldRef(file.resourceFieldRef, `${path}.resourceFieldRef`, 'volume'))
  else errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'))
  return all(errors, fileMode(file.mode, `${path}.mode`))
}

/** Validates `projected`: several sources with unique file paths. */
export function projectedVolume({ defaultMode, sources }: Projected, path: string): readonly FieldError[] {
  const errors = [...fileMode(defaultMode, `${path}.defaultMode`)]
  const taken = new Set<string>()
  const claim = (target: string, shown: string): void => {
    if (taken.has(target)) errors.push(invalidValue(path, shown, 'conflicting duplicate paths'))
    taken.add(target)
  }
  sources?.forEach(({ secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate }, i) => {
    const at = `${path}.sources[${i}]`
    if (secret) {
      errors.push(...requiredText(secret.name, `${at}.secret.name`), ...items(secret.items, `${at}.secret`))
      for (const item of secret.items ?? []) if (item.path) claim(item.path, secret.name ?? '')
    }
    if (configMap) {
      errors.push(...requiredText(configMap.name, `${at}.configMap.name`), ...items(configMap.items, `${at}.configMap`))
      for (const item of configMap.items ?? []) if (item.path) claim(item.path, configMap.name ?? '')
    }
    if (downwardAPI) {
      for (const file of downwardAPI.items ?? []) {
        errors.push(...downwardFile(file, `${at}.downwardAPI`))
        if (file.path) claim(file.path, file.path)
      }
    }
    if (serviceAccountToken) {
      const seconds = serviceAccountToken.expirationSeconds
      if (seconds !== undefined && seconds < 600)
        errors.push(
          invalidValue(
            `${at}.serviceAccountToken.expirationSeconds`,
            seconds,
            'may not specify a duration less than 10 minutes',
          ),
        )
      if (seconds !== undefined && seconds > 2 ** 32)
        errors.push(
          invalidValue(
            `${at}.serviceAccountToken.expirationSeconds`,
            seconds,
            'may not specify a duration larger than 2^32 seconds',
          ),
        )
      if (!serviceAccountToken.path) errors.push(required(`${path}.path`))
      else errors.push(...ownPath(serviceAccountToken.path, `${path}.path`))
    }
    if (clusterTrustBundle) {
      errors.push(...trustBundle(clusterTrustBundle, `${at}.clusterTrustBundle`))
      claim(clusterTrustBundle.path, clusterTrustBundle.path)
    }
    if (podCertificate) {
      errors.push(...certificate(podCertificate, `${at}.podCertificate`))
      for (const file of certificateFiles) if (podCertificate[file]) claim(podCertificate[file], podCertificate[file])
    }
    if (
      [secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate].filter(Boolean).length >
      1
    )
      errors.push(forbiddenField(at, 'may not specify more than 1 volume type per source'))
  })
  return errors
}

const shownBundle = struct({
  Name: optional,
  SignerName: optional,
  LabelSelector: shownSelector,
  Optional: optional,
  Path: text,
})

/** Validates a clusterTrustBundle source: one bundle, or all of a signer (KEP-3257). */
function trustBundle(source: NonNullable<Source['clusterTrustBundle']>, path: string): readonly FieldError[] {
  const { name, signerName, labelSelector, path: file } = source
  const errors: FieldError[] = []
  if (name !== undefined && signerName !== undefined)
    errors.push(invalidValue(path, shownBundle(source), 'only one of name and signerName may be used'))
  else if (name !== undefined) {
    if (name === '') errors.push(required(`${path}.name`, 'must be a valid object name'))
    errors.push(...bundleName(name, `${path}.name`))
    if (labelSelector)
      errors.push(
        invalidValue(
          `${path}.labelSelector`,
          shownSelector(labelSelector),
          'labelSelector must be unset if name is specified',
        ),
      )
  } else if (signerName !== undefined) {
    if (signerName === '') errors.push(required(`${path}.signerName`, 'must be a valid signer name'))
    errors.push(
      ...signerNameRules(signerName, `${path}.signerName`),
      ...validateLabelSelector(labelSelector, `${path}.labelSelector`),
    )
  } else errors.push(required(path, 'either name or signerName must be specified'))
  if (!file) errors.push(required(`${path}.path`))
  return [...errors, ...ownPath(file ?? '', `${path}.path`)]
}

/** Validates `example.com:signer:name`, or a name without a signer. */
const bundleName = (name: string, path: string): readonly FieldError[] =>
  dnsSubdomain(name.slice(name.lastIndexOf(':') + 1)).map((message) =>
    invalidValue(path, name, `not a valid clustertrustbundlename: ${message}`),
  )

const keyTypes = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519']
const certificateFiles = ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const
const hour = 3600
const maxSeconds = 91 * 24 * hour
/** The limit for signers of `kubernetes.io` and `k8s.io`, in seconds. */
const maxKubernetesSeconds = 24 * hour

const isKubernetesSigner = (signerName = ''): boolean =>
  /(^|\.)(kubernetes|k8s)\.io$/.test(signerName.split('/')[0] ?? '')

/** Validates a podCertificate source: a generated key and its certificate (KEP-4317). */
function certificate(source: NonNullable<Source['podCertificate']>, path: string): readonly FieldError[] {
  const {
    signerName,
    keyType,
    maxExpirationSeconds: seconds,
    credentialBundlePath,
    keyPath,
    certificateChainPath,
  } = source
  const most = isKubernetesSigner(signerName) ? maxKubernetesSeconds : maxSeconds
  return all(
    signerNameRules(signerName ?? '', `${path}.signerName`),
    source.userAnnotations ? userAnnotations(source.userAnnotations, `${path}.userAnnotations`) : valid,
    keyTypes.includes(keyType) ? valid : [notSupported(`${path}.keyType`, keyType ?? '', keyTypes)],
    seconds !== undefined && seconds < hour
      ? [invalidValue(`${path}.maxExpirationSeconds`, seconds, `if provided, maxExpirationSeconds must be >= ${hour}`)]
      : valid,
    seconds !== undefined && seconds > most
      ? [invalidValue(`${path}.maxExpirationSeconds`, seconds, `if provided, maxExpirationSeconds must be <= ${most}`)]
      : valid,
    !credentialBundlePath && !keyPath && !certificateChainPath
      ? [required(path, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath')]
      : valid,
    certificateFiles.flatMap((file) => (source[file] ? ownPath(source[file], `${path}.${file}`) : valid)),
  )
}
