/** Validation of `spec.conversion` of a CustomResourceDefinition. */
import { X509Certificate } from 'node:crypto'
import { type FieldError, forbiddenField, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { oneOf } from '../../machinery/validation/field-rules.ts'
import {
  hasKnownReviewVersion,
  validateClientConfig,
  validateReviewVersions,
} from '../admissionregistration/webhook-rules.ts'
import { type Definition, hasCondition } from './definition.ts'

type Conversion = Definition['spec']['conversion']

// Upstream reports the field names of its internal version.
const path = 'spec.conversion'
const config = `${path}.webhookClientConfig`
const reviews = `${path}.conversionReviewVersions`
const notSet = 'should not be set when strategy is not set to Webhook'

/** Validates a conversion. On update, values that were invalid in `old` may stay. */
export function conversionRules(conversion: Conversion, old?: Definition): readonly FieldError[] {
  if (!conversion) return []
  const { strategy, webhook } = conversion
  const faults: FieldError[] = [...oneOf(strategy, `${path}.strategy`, ['None', 'Webhook'], 'needed')]
  if (strategy !== 'Webhook') {
    if (webhook?.clientConfig) faults.push(forbiddenField(config, notSet))
    if (webhook?.conversionReviewVersions?.length) faults.push(forbiddenField(reviews, notSet))
    return faults
  }
  if (webhook?.clientConfig)
    faults.push(
      ...validateClientConfig(webhook.clientConfig, config),
      ...bundleRules(webhook.clientConfig.caBundle, old),
    )
  else faults.push(required(config, 'required when strategy is set to Webhook'))
  const versions = webhook?.conversionReviewVersions
  if (!versions?.length) faults.push(required(reviews))
  else if (!old || hasKnownReviewVersion(versions) || isKnown(old.spec.conversion))
    faults.push(...validateReviewVersions(versions, reviews))
  return faults
}

const isKnown = (conversion: Conversion): boolean => {
  const versions = conversion?.webhook?.conversionReviewVersions
  return !versions?.length || hasKnownReviewVersion(versions)
}

/**
 * A definition that is not established may have an invalid caBundle: another component injects it later (since 1.31).
 */
function bundleRules(bundle: string | undefined, old: Definition | undefined): readonly FieldError[] {
  if (!bundle || !old || !hasCondition(old, 'Established') || holdsCertificate(bundle)) return []
  const before = old.spec.conversion?.webhook?.clientConfig?.caBundle
  if (before && !holdsCertificate(before)) return []
  return [
    invalidValue(`${config}.caBundle`, bundle, 'unable to load root certificates: unable to parse bytes as PEM block'),
  ]
}

function holdsCertificate(bundle: string): boolean {
  try {
    return Boolean(new X509Certificate(Buffer.from(bundle, 'base64')))
  } catch {
    return false
  }
}
