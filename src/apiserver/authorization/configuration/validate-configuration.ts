/** Validates an AuthorizationConfiguration, with upstream's messages. */

import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { reasonOf } from '../../../lib/explained-error.ts'
import { goDuration } from '../../../lib/go/go-duration.ts'
import {
  duplicate,
  type FieldError,
  invalidValue,
  notSupported,
  required,
} from '../../../machinery/validation/field-error.ts'
import { dnsSubdomain } from '../../../machinery/validation/names.ts'
import type { AuthorizationConfiguration, AuthorizerConfiguration, WebhookConfiguration } from './configuration-file.ts'
import { compileConditions } from './match-conditions.ts'

const types: readonly string[] = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook']
const maxTimeoutMs = 30_000

export function configurationFaults({ authorizers }: AuthorizationConfiguration): readonly FieldError[] {
  if (authorizers.length === 0) return [required('authorizers', 'at least one authorization mode must be defined')]
  const usedTypes = new Set<string>()
  const usedNames = new Set<string>()
  return authorizers.flatMap((authorizer, index) => {
    const path = `authorizers[${index}]`
    const { type, name } = authorizer
    if (!type) return [required(`${path}.type`)]
    if (!types.includes(type)) return [notSupported(`${path}.type`, type, types)]
    if (usedTypes.has(type) && type !== 'Webhook') return [duplicate(`${path}.type`, type)]
    usedTypes.add(type)
    const errors = [...nameFaults(name, usedNames, `${path}.name`), ...webhookFaults(authorizer, path)]
    usedNames.add(name)
    return errors
  })
}

function nameFaults(name: string, usedNames: ReadonlySet<string>, path: string): readonly FieldError[] {
  if (!name) return [required(path)]
  if (usedNames.has(name)) return [duplicate(path, name)]
  const faults = dnsSubdomain(name)
  return faults.length > 0 ? [invalidValue(path, name, `authorizer name is invalid: ${faults.join(', ')}`)] : []
}

function webhookFaults({ type, webhook }: AuthorizerConfiguration, path: string): readonly FieldError[] {
  if (type !== 'Webhook')
    return webhook ? [invalidValue(`${path}.webhook`, 'non-null', 'may only be specified when type=Webhook')] : []
  if (!webhook) return [required(`${path}.webhook`, 'required when type=Webhook')]
  return [
    ...timeFaults(webhook, path),
    ...versionFaults(webhook, path),
    ...choiceFaults(webhook.failurePolicy, ['NoOpinion', 'Deny'], `${path}.failurePolicy`),
    ...connectionFaults(webhook, `${path}.connectionInfo`),
    ...compileConditions(webhook.matchConditions, path).errors,
  ]
}

function timeFaults({ timeoutMs, authorizedMs, unauthorizedMs }: WebhookConfiguration, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (timeoutMs === 0) errors.push(required(`${path}.timeout`))
  else if (timeoutMs > maxTimeoutMs || timeoutMs < 0)
    errors.push(invalidValue(`${path}.timeout`, goDuration(timeoutMs), 'must be > 0s and <= 30s'))
  if (authorizedMs < 0) errors.push(invalidValue(`${path}.authorizedTTL`, goDuration(authorizedMs), 'must be > 0s'))
  if (unauthorizedMs < 0)
    errors.push(invalidValue(`${path}.unauthorizedTTL`, goDuration(unauthorizedMs), 'must be > 0s'))
  return errors
}

function versionFaults(webhook: WebhookConfiguration, path: string): readonly FieldError[] {
  const { subjectAccessReviewVersion, matchConditionSubjectAccessReviewVersion: matched, matchConditions } = webhook
  const field = `${path}.matchConditionSubjectAccessReviewVersion`
  return [
    ...choiceFaults(subjectAccessReviewVersion, ['v1', 'v1beta1'], `${path}.subjectAccessReviewVersion`),
    ...(matched
      ? choiceFaults(matched, ['v1'], field)
      : matchConditions.length > 0
        ? [required(field, 'required if match conditions are specified')]
        : []),
  ]
}

const choiceFaults = (value: string, choices: readonly string[], path: string): readonly FieldError[] =>
  value === '' ? [required(path)] : choices.includes(value) ? [] : [notSupported(path, value, choices)]

function connectionFaults(
  { connectionType, kubeConfigFile }: WebhookConfiguration,
  path: string,
): readonly FieldError[] {
  const field = `${path}.kubeConfigFile`
  switch (connectionType) {
    case 'InClusterConfig':
      return kubeConfigFile === undefined
        ? []
        : [invalidValue(field, kubeConfigFile, 'can only be set when type=KubeConfigFile')]
    case 'KubeConfigFile':
      if (!kubeConfigFile) return [required(field)]
      if (!isAbsolute(kubeConfigFile)) return [invalidValue(field, kubeConfigFile, 'must be an absolute path')]
      return fileFaults(kubeConfigFile, field)
    case '':
      return [required(`${path}.type`)]
    default:
      // Upstream shows the whole struct with Go's field names.
      return [
        notSupported(`${path}.type`, { Type: connectionType, KubeConfigFile: kubeConfigFile ?? null }, [
          'InClusterConfig',
          'KubeConfigFile',
        ]),
      ]
  }
}

function fileFaults(file: string, field: string): readonly FieldError[] {
  try {
    return statSync(file).isFile() ? [] : [invalidValue(field, file, 'must be a regular file')]
  } catch (error) {
    return [invalidValue(field, file, `error loading file: stat ${file}: ${reasonOf(error)}`)]
  }
}
