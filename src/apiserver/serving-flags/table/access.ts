/** Flags for authentication, authorization, admission and audit. */
import { admissionPluginNames } from '../admission-plugins.ts'
import { type FlagSet, works } from '../flag.ts'

const plugins = `Of: ${admissionPluginNames.join(', ')}`

export const authentication: FlagSet = {
  name: 'authentication',
  flags: [
    works('anonymous-auth', 'bool', 'take requests without credentials, as system:anonymous', 'true'),
    works('api-audiences', 'strings', 'whom tokens must be meant for'),
    works('authentication-config', 'string', 'the file about authentication'),
    works('authentication-token-webhook-cache-ttl', 'duration', "how long a webhook's answers are kept", '2m0s'),
    works('authentication-token-webhook-config-file', 'string', 'the kubeconfig of the webhook that knows tokens'),
    works('authentication-token-webhook-version', 'string', 'the version of TokenReview to send', 'v1beta1'),
    works('client-ca-file', 'string', 'accept client certificates of these authorities (PEM)'),
    works('enable-bootstrap-token-auth', 'bool', 'accept tokens of Secrets of type bootstrap.kubernetes.io/token'),
    works('oidc-ca-file', 'string', 'the authority of the OpenID provider'),
    works('oidc-client-id', 'string', 'whom ID tokens must be meant for'),
    works('oidc-groups-claim', 'string', 'the claim that holds groups'),
    works('oidc-groups-prefix', 'string', 'what is put before groups'),
    works('oidc-issuer-url', 'string', 'the OpenID provider'),
    works('oidc-required-claim', 'mapStringString', 'a claim that ID tokens must have: key=value'),
    works('oidc-signing-algs', 'strings', 'how ID tokens may be signed', 'RS256'),
    works('oidc-username-claim', 'string', 'the claim that holds the user', 'sub'),
    works('oidc-username-prefix', 'string', 'what is put before the user'),
    works('requestheader-allowed-names', 'strings', 'common names that a front proxy may have'),
    works('requestheader-client-ca-file', 'string', 'the authority of front proxies'),
    works('requestheader-extra-headers-prefix', 'strings', 'headers that tell more about the user'),
    works('requestheader-group-headers', 'strings', 'headers that tell groups'),
    works('requestheader-uid-headers', 'strings', "headers that tell the user's uid"),
    works('requestheader-username-headers', 'strings', 'headers that tell the user'),
    works('service-account-extend-token-expiration', 'bool', 'let tokens of pods live for a year', 'true'),
    works('service-account-issuer', 'stringArray', 'who issues service account tokens; of several the first one does'),
    works('service-account-jwks-uri', 'string', 'where the public keys are found'),
    works(
      'service-account-key-file',
      'stringArray',
      'keys that verify service account tokens (PEM: public or private keys, or certificates)',
    ),
    works('service-account-lookup', 'bool', 'look whether the service account of a token is there', 'true'),
    works('service-account-max-token-expiration', 'duration', 'how long tokens may live'),
    works('token-auth-file', 'string', 'bearer tokens to accept: lines of token,user,uid,"group1,group2"'),
  ],
}

export const authorization: FlagSet = {
  name: 'authorization',
  flags: [
    works('authorization-config', 'string', 'the file about authorization'),
    works('authorization-mode', 'strings', 'who decides: AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node'),
    works('authorization-policy-file', 'string', 'the policies of ABAC'),
    works('authorization-webhook-cache-authorized-ttl', 'duration', 'how long a yes is kept', '5m0s'),
    works('authorization-webhook-cache-unauthorized-ttl', 'duration', 'how long a no is kept', '30s'),
    works('authorization-webhook-config-file', 'string', 'the kubeconfig of the webhook that decides'),
    works('authorization-webhook-version', 'string', 'the version of SubjectAccessReview to send', 'v1beta1'),
  ],
}

export const admission: FlagSet = {
  name: 'admission',
  flags: [
    works(
      'admission-control',
      'strings',
      'exactly the admission plug-ins that are on; --enable-admission-plugins and --disable-admission-plugins ' +
        `replace it. ${plugins}`,
    ),
    works(
      'admission-control-config-file',
      'string',
      'the configuration of admission plug-ins: an AdmissionConfiguration',
    ),
    works('disable-admission-plugins', 'strings', `admission plug-ins to turn off. ${plugins}`),
    works('enable-admission-plugins', 'strings', `admission plug-ins to turn on, beside the usual ones. ${plugins}`),
    works('default-not-ready-toleration-seconds', 'int', 'how long pods stay on nodes that are not ready', '300'),
    works('default-unreachable-toleration-seconds', 'int', 'how long pods stay on nodes that cannot be reached', '300'),
  ],
}

/** The flags that `--audit-log-…` and `--audit-webhook-…` have in common. */
const auditBackend = (
  backend: 'log' | 'webhook',
  usual: { readonly size: string; readonly wait?: string; readonly throttle?: readonly [string, string] },
) => {
  const named = (name: string): string => `audit-${backend}-${name}`
  const [burst, rate] = usual.throttle ?? []
  return [
    works(named('batch-buffer-size'), 'int', 'events that wait to be written', '10000'),
    works(named('batch-max-size'), 'int', 'events in a batch', usual.size),
    works(named('batch-max-wait'), 'duration', 'how long a batch waits to be full', usual.wait),
    works(named('batch-throttle-burst'), 'int', 'batches at once', burst),
    works(named('batch-throttle-enable'), 'bool', 'bound the batches a second', rate && 'true'),
    works(named('batch-throttle-qps'), 'float', 'batches a second', rate),
    works(
      named('mode'),
      'string',
      'whether requests wait for their event: batch, blocking, blocking-strict',
      backend === 'log' ? 'blocking' : 'batch',
    ),
    works(named('truncate-enabled'), 'bool', 'cut large events'),
    works(named('truncate-max-batch-size'), 'int', 'bytes of a batch', '10485760'),
    works(named('truncate-max-event-size'), 'int', 'bytes of an event', '102400'),
    works(named('version'), 'string', 'the version of events', 'audit.k8s.io/v1'),
  ]
}

export const auditing: FlagSet = {
  name: 'auditing',
  flags: [
    ...auditBackend('log', { size: '1' }),
    works('audit-log-compress', 'bool', 'compress files that are full'),
    works('audit-log-format', 'string', 'the format of the file: json, legacy', 'json'),
    works('audit-log-maxage', 'int', 'days that old files are kept'),
    works('audit-log-maxbackup', 'int', 'old files that are kept'),
    works('audit-log-maxsize', 'int', 'megabytes of a file'),
    works('audit-log-path', 'string', 'the file that events go to; - for the standard output'),
    works('audit-policy-file', 'string', 'the policy: which requests leave an event'),
    ...auditBackend('webhook', { size: '400', wait: '30s', throttle: ['15', '10'] }),
    works('audit-webhook-config-file', 'string', 'the kubeconfig of the webhook that takes events'),
    works('audit-webhook-initial-backoff', 'duration', 'how long to wait before an event is sent again', '10s'),
  ],
}
