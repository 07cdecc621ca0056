/** Defaults and validation that validating and mutating webhooks share. */
import type {
  AdmissionregistrationV1WebhookClientConfig,
  V1MatchCondition,
  V1MutatingWebhook,
  V1RuleWithOperations,
} from '@kubernetes/client-node'
import { admissionEnvironment } from '../../cel/admission/environment.ts'
import { compileExpression } from '../../cel/admission/expression.ts'
import { boolType } from '../../cel/types.ts'
import type { Wire } from '../../machinery/object.ts'
import { validateLabelSelector } from '../../machinery/selectors/label-selector.ts'
import {
  duplicate,
  type FieldError,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../../machinery/validation/field-error.ts'
import { duplicateFinder, follows, oneOf } from '../../machinery/validation/field-rules.ts'
import { dns1035Label, dnsSubdomain, domainName, portNumber, qualifiedName } from '../../machinery/validation/names.ts'
import { parseUrl, UrlError } from '../../machinery/values/go-url.ts'

export type Webhook = Wire<V1MutatingWebhook>
export type ClientConfig = Wire<AdmissionregistrationV1WebhookClientConfig>
export type Rule = Wire<V1RuleWithOperations>

export const admissionGroup = 'admissionregistration.k8s.io'
const reviewVersions = ['v1', 'v1beta1']

/** Sets the defaults of a webhook. */
export function webhookDefaults(webhook: Webhook): void {
  webhook.failurePolicy ??= 'Fail'
  webhook.matchPolicy ??= 'Equivalent'
  webhook.namespaceSelector ??= {}
  webhook.objectSelector ??= {}
  webhook.timeoutSeconds ??= 10
  if (webhook.clientConfig?.service) webhook.clientConfig.service.port ??= 443
  for (const rule of webhook.rules ?? []) rule.scope ??= '*'
}

/** Validates a configuration's webhooks. */
export function validateWebhooks(webhooks: readonly Webhook[] | undefined): readonly FieldError[] {
  const names = new Set<string>()
  return (webhooks ?? []).flatMap((webhook, at) => {
    const errors = [...webhookRules(webhook, `webhooks[${at}]`)]
    if (webhook.name && names.has(webhook.name)) errors.push(duplicate(`webhooks[${at}].name`, webhook.name))
    names.add(webhook.name)
    return errors
  })
}

function webhookRules(webhook: Webhook, path: string): readonly FieldError[] {
  const errors = webhook.name
    ? domainName(webhook.name, 3).map((message) => invalidValue(`${path}.name`, webhook.name, message))
    : [required(`${path}.name`)]
  webhook.rules?.forEach((rule, at) => {
    errors.push(...validateRule(rule, `${path}.rules[${at}]`))
  })
  errors.push(
    ...oneOf(webhook.failurePolicy, `${path}.failurePolicy`, ['Fail', 'Ignore']),
    ...oneOf(webhook.matchPolicy, `${path}.matchPolicy`, ['Equivalent', 'Exact']),
  )
  if (!webhook.sideEffects) errors.push(required(`${path}.sideEffects`, 'must specify one of None, NoneOnDryRun'))
  else errors.push(...oneOf(webhook.sideEffects, `${path}.sideEffects`, ['None', 'NoneOnDryRun']))
  if (webhook.timeoutSeconds !== undefined && (webhook.timeoutSeconds < 1 || webhook.timeoutSeconds > 30))
    errors.push(
      invalidValue(
        `${path}.timeoutSeconds`,
        webhook.timeoutSeconds,
        'the timeout value must be between 1 and 30 seconds',
      ),
    )
  errors.push(
    ...validateLabelSelector(webhook.namespaceSelector, `${path}.namespaceSelector`),
    ...validateLabelSelector(webhook.objectSelector, `${path}.objectSelector`),
  )
  errors.push(...oneOf(webhook.reinvocationPolicy, `${path}.reinvocationPolicy`, ['IfNeeded', 'Never']))
  errors.push(
    ...validateClientConfig(webhook.clientConfig ?? {}, `${path}.clientConfig`),
    ...validateMatchConditions(webhook.matchConditions, `${path}.matchConditions`),
  )
  return errors.concat(validateReviewVersions(webhook.admissionReviewVersions, `${path}.admissionReviewVersions`))
}

/** Validates the clientConfig of a webhook: a URL or a Service. */
export function validateClientConfig({ url, service }: ClientConfig, path: string): readonly FieldError[] {
  if ((url === undefined) === (service === undefined))
    return [required(path, 'exactly one of url or service is required')]
  if (url !== undefined) return urlRules(url, `${path}.url`)
  const { namespace, name, path: servicePath, port = 443 } = service ?? { namespace: '', name: '' }
  const errors: FieldError[] = []
  // Upstream swaps the two fields in these errors.
  if (!namespace) errors.push(required(`${path}.service.name`))
  if (!name) errors.push(required(`${path}.service.namespace`))
  for (const message of portNumber(port))
    errors.push(invalidValue(`${path}.service.port`, port, `port is not valid: ${message}`))
  return servicePath === undefined ? errors : errors.concat(servicePathRules(servicePath, `${path}.service.path`))
}

function servicePathRules(text: string, field: string): readonly FieldError[] {
  if (text === '/' || text === '') return []
  if (text === '//') return [invalidValue(field, text, 'segment[0] may not be empty')]
  const errors = text.startsWith('/') ? [] : [invalidValue(field, text, "must start with a '/'")]
  // Upstream drops the first character even if it is no slash.
  const segments = text.slice(1).replace(/\/$/, '').split('/')
  segments.forEach((segment, at) => {
    const faults = segment === '' ? [' may not be empty'] : dnsSubdomain(segment).map((fault) => `: ${fault}`)
    for (const fault of faults) errors.push(invalidValue(field, text, `segment[${at}]${fault}`))
  })
  return errors
}

function urlRules(text: string, field: string): readonly FieldError[] {
  const form = '; desired format: https://host[/path]'
  const parseError = urlParseError(text)
  if (parseError) return [required(field, `url must be a valid URL: ${parseError}${form}`)]
  const match =
    /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/.exec(text)
  const [, scheme = '', user, host = '', , query, fragment] = match ?? []
  const errors: FieldError[] = []
  if (scheme !== 'https') errors.push(invalidValue(field, scheme, `'https' is the only allowed URL scheme${form}`))
  if (host === '') errors.push(invalidValue(field, host, `host must be specified${form}`))
  if (user !== undefined) errors.push(invalidValue(field, user, 'user information is not permitted in the URL'))
  if (fragment) errors.push(invalidValue(field, fragment, 'fragments are not permitted in the URL'))
  if (query) errors.push(invalidValue(field, query, 'query parameters are not permitted in the URL'))
  return errors
}

/** Returns the error of Go's URL parser, or undefined for a valid URL. */
function urlParseError(text: string): string | undefined {
  try {
    parseUrl(text)
    return undefined
  } catch (error) {
    if (error instanceof UrlError) return error.message
    throw error
  }
}

/** Returns true if one of the review versions is supported. */
export const hasKnownReviewVersion = (versions: readonly string[]): boolean =>
  versions.some((version) => reviewVersions.includes(version))

/** Validates the versions of AdmissionReview (or ConversionReview) that a webhook supports. */
export function validateReviewVersions(versions: readonly string[] | undefined, path: string): readonly FieldError[] {
  if (!versions?.length) return [required(path, `must specify one of ${reviewVersions.join(', ')}`)]
  const errors: FieldError[] = []
  const isRepeated = duplicateFinder<string>()
  versions.forEach((version, at) => {
    if (isRepeated(version)) errors.push(invalidValue(`${path}[${at}]`, version, 'duplicate version'))
    else errors.push(...follows(version, `${path}[${at}]`, dns1035Label))
  })
  if (!hasKnownReviewVersion(versions))
    errors.push(invalidValue(path, versions, `must include at least one of ${reviewVersions.join(', ')}`))
  return errors
}

const maxConditions = 64

/** Validates match conditions; `params` is true if they may use `params`. */
export function validateMatchConditions(
  conditions: readonly Wire<V1MatchCondition>[] | undefined,
  path: string,
  params = false,
): readonly FieldError[] {
  if (!conditions?.length) return []
  const names = new Set<string>()
  const many = conditions.length > maxConditions ? [tooMany(path, conditions.length, maxConditions)] : []
  const environment = admissionEnvironment({ params, authorizer: true })
  const errors = conditions.flatMap(({ name, expression }, at) => {
    const field = `${path}[${at}]`
    const source = expression?.trim()
    const fault = source ? compileExpression(environment, source, [boolType]).fault : ''
    const errors = source
      ? fault
        ? [invalidValue(`${field}.expression`, source, fault)]
        : []
      : [required(`${field}.expression`)]
    if (!name) return [...errors, required(`${field}.name`)]
    errors.push(...follows(name, `${field}.name`, qualifiedName))
    if (names.has(name)) errors.push(duplicate(`${field}.name`, name))
    names.add(name)
    return errors
  })
  return [...many, ...errors]
}

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']

/** Validates a rule that selects requests. */
export function validateRule(rule: Rule, path: string): readonly FieldError[] {
  const errors = [
    ...validateWildcard(rule.operations, `${path}.operations`, 'operations'),
    ...(rule.operations ?? []).flatMap((operation, at) =>
      operations.includes(operation) ? [] : [notSupported(`${path}.operations[${at}]`, operation, operations)],
    ),
    ...validateWildcard(rule.apiGroups, `${path}.apiGroups`, 'API groups'),
    ...validateWildcard(rule.apiVersions, `${path}.apiVersions`, 'API versions'),
    ...(rule.apiVersions ?? []).flatMap((version, at) =>
      version === '' ? [required(`${path}.apiVersions[${at}]`)] : [],
    ),
    ...resourceNames(rule.resources ?? [], `${path}.resources`),
  ]
  return errors.concat(oneOf(rule.scope, `${path}.scope`, ['*', 'Cluster', 'Namespaced']))
}

function validateWildcard(values: readonly string[] | undefined, path: string, what: string): readonly FieldError[] {
  if (!values?.length) return [required(path)]
  return values.length > 1 && values.includes('*')
    ? [invalidValue(path, values, `if '*' is present, must not specify other ${what}`)]
    : []
}

function resourceNames(resources: readonly string[], path: string): readonly FieldError[] {
  if (resources.length === 0) return [required(path)]
  const errors: FieldError[] = []
  const allSubresources = new Set<string>()
  const resourcesOfSubresource = new Set<string>()
  resources.forEach((text, at) => {
    const field = `${path}[${at}]`
    if (text === '') errors.push(required(field))
    const slash = text.indexOf('/')
    if (slash < 0) return
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)]
    if (allSubresources.has(resource))
      errors.push(invalidValue(field, text, `if '${resource}/*' is present, must not specify ${text}`))
    if (resourcesOfSubresource.has(subresource))
      errors.push(invalidValue(field, text, `if '*/${subresource}' is present, must not specify ${text}`))
    if (subresource === '*') allSubresources.add(resource)
    if (resource === '*') resourcesOfSubresource.add(subresource)
  })
  if (resources.length > 1 && resources.includes('*/*'))
    errors.push(invalidValue(path, resources, "if '*/*' is present, must not specify other resources"))
  // Upstream checks only the last resource without a subresource.
  if (resources.includes('*') && (resources.findLast((text) => text !== '' && !text.includes('/')) ?? '*') !== '*')
    errors.push(
      invalidValue(path, resources, "if '*' is present, must not specify other resources without subresources"),
    )
  return errors
}
