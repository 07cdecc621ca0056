/** MutatingAdmissionWebhook: calls mutating webhooks, one after the other. */
import { goJsonType, parseJson } from '../../../machinery/decode/go-json.ts'
import { goJson, isObject, jsonEqual } from '../../../machinery/fields/json.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { applyOperations } from '../../../machinery/patch/json-patch.ts'
import { statusOf } from '../../../machinery/status-error.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { conditionMetrics } from '../matching/condition-metrics.ts'
import { ReinvocationRound } from '../matching/reinvocation-round.ts'
import { typedObject } from '../matching/typed-object.ts'
import { inVersion, replaceContent, type VersionedObjects } from '../matching/versions.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import type { ReviewAnswer } from './admission-review.ts'
import { CallError, callWebhook, measureWait, withFailurePolicy } from './call-webhook.ts'
import { objectsFor, type WebhookSelection } from './called-webhooks.ts'
import { type ConfiguredWebhook, ConfiguredWebhooks } from './configured-webhooks.ts'
import { webhookMetrics } from './webhook-metrics.ts'

const pluginName = 'MutatingAdmissionWebhook'

export function mutatingWebhooks(sources: PluginSources): AdmissionPlugin {
  const { authorizer, log } = sources
  const webhooks = new ConfiguredWebhooks(sources, pluginName, 'mutatingwebhookconfigurations')
  const metrics = webhookMetrics(sources.metrics)
  const ofConditions = conditionMetrics(sources.metrics, 'webhook', 'admit')
  return {
    name: pluginName,
    start: () => webhooks.start(),
    stop: () => webhooks.stop(),
    callsExternalServices: () => !webhooks.index.isEmpty,
    mutate(attributes) {
      const { index } = webhooks
      if (index.isEmpty) return
      const candidates = index.candidates(attributes)
      if (candidates.length > 0)
        return measureWait(attributes, dispatch(attributes, { index, authorizer, conditionMetrics: ofConditions }))
    },
  }

  async function dispatch(attributes: AdmissionAttributes, selecting: WebhookSelection): Promise<void> {
    const round = new ReinvocationRound(pluginName, attributes)
    for (const candidate of selecting.index.candidates(attributes)) {
      const hook = candidate.value
      const objects = await objectsFor(candidate, attributes, selecting)
      // A webhook that was not called in the first round is not called in the second.
      if (!objects || !round.isDue(hook.uid)) continue
      attributes.request?.signal.throwIfAborted()
      const place = `round_${round.number}_index_${hook.index}`
      const failedOpen = `failed-open.mutation.webhook.admission.k8s.io/${place}`
      let changed = false
      try {
        await withFailurePolicy({ hook, attributes, type: 'admit', metrics, log, failedOpen }, async () => {
          const answer = await callWebhook(hook, attributes, objects, true)
          changed = await applyAnswer(hook, attributes, objects, answer, place)
        })
      } finally {
        attributes.annotate(`mutation.webhook.admission.k8s.io/${place}`, webhookAnnotation(hook, { mutated: changed }))
      }
      if (changed) round.objectChanged()
      if (hook.webhook.reinvocationPolicy === 'IfNeeded') round.allowReinvocation(hook.uid)
    }
    round.end()
  }
}

const webhookAnnotation = ({ configuration, webhook }: ConfiguredWebhook, more: object): string =>
  goJson({ configuration, webhook: webhook.name, ...more })

/** Applies the patch of an answer. Returns true if it changed the object. */
async function applyAnswer(
  hook: ConfiguredWebhook,
  attributes: AdmissionAttributes,
  { resource, object }: VersionedObjects,
  { patch, patchType }: ReviewAnswer,
  place: string,
): Promise<boolean> {
  if (patch.length === 0) return false
  const { name } = hook.webhook
  const operations = decodePatch(name, patch)
  if (operations.length === 0) return false
  if (!object || !attributes.object)
    throw statusOf(
      new Error(
        `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for ` +
          'this operation',
      ),
    )
  if (patchType !== 'JSONPatch') throw new CallError(name, `unsupported patch type ${JSON.stringify(patchType)}`, 400)
  let patched: KubeObject
  let result: KubeObject | undefined
  try {
    patched = typedObject(attributes, resource, applyOperations(structuredClone(object), operations), object)
    result = attributes.kind ? patched : await inVersion(patched, resource, attributes.resource)
  } catch (error) {
    // An error of a webhook is not a client error.
    throw statusOf(new Error(error instanceof Error ? error.message : String(error)))
  }
  const changed = !jsonEqual(object, patched)
  attributes.annotate(
    `patch.webhook.admission.k8s.io/${place}`,
    webhookAnnotation(hook, { patch: operations.map(sorted), patchType }),
    'Request',
  )
  replaceContent(attributes.object, result!)
  return changed
}

/** An operation with sorted fields, as Go encodes the map it decodes to. */
const sorted = (operation: object): object =>
  Object.fromEntries(Object.entries(operation).sort(([a], [b]) => (a < b ? -1 : 1)))

function decodePatch(name: string, patch: Buffer): readonly object[] {
  try {
    const operations = parseJson(patch.toString())
    if (operations === null) return []
    if (!Array.isArray(operations))
      throw new Error(`json: cannot unmarshal ${goJsonType(operations)} into Go value of type jsonpatch.Patch`)
    for (const one of operations)
      if (!isObject(one))
        throw new Error(`json: cannot unmarshal ${goJsonType(one)} into Go value of type jsonpatch.Operation`)
    return operations
  } catch (error) {
    throw new CallError(
      name,
      `received undecodable patch in webhook response: ${error instanceof Error ? error.message : error}`,
      503,
    )
  }
}
