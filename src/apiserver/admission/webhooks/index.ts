/** Plug-ins that call admission webhooks (admissionregistration.k8s.io). */
import type { AdmissionOptions } from '../index.ts'
import type { PluginFactory } from '../plugin.ts'
import { mutatingWebhooks } from './mutating-webhooks.ts'
import { validatingWebhooks } from './validating-webhooks.ts'

export const webhookPlugins: Readonly<Record<string, PluginFactory<AdmissionOptions>>> = {
  MutatingAdmissionWebhook: (sources) => mutatingWebhooks(sources),
  ValidatingAdmissionWebhook: (sources) => validatingWebhooks(sources),
}
