/** MutatingAdmissionWebhook: asks webhooks to change what is written, one after the other. */
import { goJsonType, parseJson } from '../../../machinery/decode/go-json.ts'
import { goJson, isObject, jsonEqual } from '../../../machinery/fields/json.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { applyOperations } from '../../../machinery/patch/json-patch.ts'
import { statusOf } from '../../../machinery/status-error.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { conditionMetrics } from '../matching/condition-metrics.ts'
import { Reinvoked } from '../matching/reinvoked.ts'
import { typedObject } from '../matching/typed-object.ts'
import { inVersion, replaceContent, type VersionedObjects } from '../matching/versions.ts'
import type { AdmissionPlugin, PluginSources } from '../plugin.ts'
import type { ReviewAnswer } from './admission-review.ts'
import { askWebhook, byFailurePolicy, CallError, waitedFor } from './call-webhook.ts'
import { objectsFor, type Selecting } from './called-webhooks.ts'
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
    asksOthers: () => !webhooks.index.empty,
    mutate(attributes) {
      const { index } = webhooks
      if (index.empty) return
      const candidates = index.candidates(attributes)
      if (candidates.length > 0)
        return waitedFor(attributes, dispatch(attributes, { index, authorizer, conditionMetrics: ofConditions }))
    },
  }

  async function dispatch(attributes: AdmissionAttributes, selecting: Selecting): Promise<void> {
    const reinvoked = new Reinvoked(pluginName, attributes)
    const { round } = reinvoked
    for (const candidate of selecting.index.candidates(attributes)) {
      const hook = candidate.value
      const objects = await objectsFor(candidate, attributes, selecting)
      // Who was not called in the first round is not called in the second.
      if (!objects || !reinvoked.isDue(hook.uid)) continue
      attributes.request?.signal.throwIfAborted()
      const place = `round_${round}_index_${hook.place}`
      const failedOpen = `failed-open.mutation.webhook.admission.k8s.io/${place}`
      let changed = false
      try {
        await byFailurePolicy({ hook, attributes, type: 'admit', metrics, log, failedOpen }, async () => {
          const answer = await askWebhook(hook, attributes, objects, true)
          changed = await applyAnswer(hook, attributes, objects, answer, place)
        })
      } finally {
        attributes.annotate(`mutation.webhook.admission.k8s.io/${place}`, told(hook, { mutated: changed }))
      }
      if (changed) reinvoked.changed()
      if (hook.webhook.reinvocationPolicy === 'IfNeeded') reinvoked.mayRepeat(hook.uid)
    }
    reinvoked.end()
  }
}

const told = ({ configuration, webhook }: ConfiguredWebhook, more: object): string =>
  goJson({ configuration, webhook: webhook.name, ...more })

/** Changes the request's object as the webhook wishes; whether that made a difference. */
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
  let shown: KubeObject | undefined
  try {
    patched = typedObject(attributes, resource, applyOperations(structuredClone(object), operations), object)
    shown = attributes.kind ? patched : await inVersion(patched, resource, attributes.resource)
  } catch (error) {
    // What a webhook does wrong is not the client's fault.
    throw statusOf(new Error(error instanceof Error ? error.message : String(error)))
  }
  const changed = !jsonEqual(object, patched)
  attributes.annotate(
    `patch.webhook.admission.k8s.io/${place}`,
    told(hook, { patch: operations.map(sorted), patchType }),
    'Request',
  )
  replaceContent(attributes.object, shown!)
  return changed
}

/** An operation as Go writes it, which reads it as a map. */
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
