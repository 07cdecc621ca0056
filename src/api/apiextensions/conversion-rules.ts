/** How objects get from one version of a custom resource to another. */
import { X509Certificate } from 'node:crypto'
import { type FieldError, forbiddenField, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { oneOf } from '../../machinery/validation/field-rules.ts'
import { clientConfigRules, hasKnownReviewVersion, reviewVersionRules } from '../admissionregistration/webhook-rules.ts'
import { type Definition, hasCondition } from './definition.ts'

type Conversion = Definition['spec']['conversion']

// Upstream's names of these fields are those of the version that it stores.
const path = 'spec.conversion'
const config = `${path}.webhookClientConfig`
const reviews = `${path}.conversionReviewVersions`
const notSet = 'should not be set when strategy is not set to Webhook'

/** What is wrong with a conversion. What was wrong in the definition that is replaced may stay so. */
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
    faults.push(...clientConfigRules(webhook.clientConfig, config), ...bundleRules(webhook.clientConfig.caBundle, old))
  else faults.push(required(config, 'required when strategy is set to Webhook'))
  const versions = webhook?.conversionReviewVersions
  if (!versions?.length) faults.push(required(reviews))
  else if (!old || hasKnownReviewVersion(versions) || isKnown(old.spec.conversion))
    faults.push(...reviewVersionRules(versions, reviews))
  return faults
}

const isKnown = (conversion: Conversion): boolean => {
  const versions = conversion?.webhook?.conversionReviewVersions
  return !versions?.length || hasKnownReviewVersion(versions)
}

/**
 * Until a definition is established its certificates may be missing still: something else fills them in (since 1.31).
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
