/** Definitions whose schemas have validation rules, such as gateways and issuers of certificates bring along. */

type Schema = Readonly<Record<string, unknown>>

/** `rule → message`. */
const rules = (messages: Readonly<Record<string, string>>): Schema => ({
  'x-kubernetes-validations': Object.entries(messages).map(([rule, message]) => ({ rule, message })),
})
const text = (maxLength: number, more: Schema = {}): Schema => ({ type: 'string', maxLength, ...more })

const definition = (plural: string, kind: string, spec: Schema, more: Schema = {}): Schema => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.ruled.example.com` },
  spec: {
    group: 'ruled.example.com',
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec, ...more } } },
      },
    ],
  },
})

const listener = {
  type: 'object',
  required: ['name', 'port', 'protocol'],
  properties: {
    name: text(253, { pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }),
    hostname: text(253),
    port: { type: 'integer', minimum: 1, maximum: 65535 },
    protocol: text(255),
    tls: {
      type: 'object',
      properties: {
        mode: { type: 'string', enum: ['Terminate', 'Passthrough'], default: 'Terminate' },
        certificates: { type: 'array', maxItems: 8, items: text(253) },
      },
      ...rules({
        "self.mode == 'Terminate' ? size(self.certificates) > 0 : true":
          'certificates must be given when mode is Terminate',
      }),
    },
  },
}

/** Listeners that must not stand in each other's way, and addresses of two types. */
export const gateways = definition('gateways', 'Gateway', {
  type: 'object',
  required: ['listeners'],
  properties: {
    listeners: {
      type: 'array',
      minItems: 1,
      maxItems: 64,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: listener,
      ...rules({
        "self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)":
          'tls must not be given for protocols without it',
        "self.all(l, l.protocol == 'HTTPS' ? (!has(l.tls) || l.tls.mode == 'Terminate') : true)":
          'tls mode must be Terminate for protocol HTTPS',
        ['self.all(l, self.exists_one(o, o.port == l.port && o.protocol == l.protocol && ' +
          '(has(o.hostname) ? o.hostname : "") == (has(l.hostname) ? l.hostname : "")))']:
          'port, protocol and hostname together must be unique',
      }),
    },
    addresses: {
      type: 'array',
      maxItems: 16,
      items: {
        type: 'object',
        required: ['value'],
        properties: { type: text(253, { default: 'IPAddress' }), value: text(253) },
        ...rules({
          "self.type == 'IPAddress' ? isIP(self.value) : true": 'value must be an address',
          "self.type == 'Hostname' ? !format.dns1123Subdomain().validate(self.value).hasValue() : true":
            'value must be a hostname',
        }),
      },
      ...rules({
        'self.all(a, self.exists_one(o, o.type == a.type && o.value == a.value))': 'addresses must be unique',
      }),
    },
    timeouts: {
      type: 'object',
      properties: { request: text(20), backend: text(20) },
      ...rules({
        ['!(has(self.request) && has(self.backend) && ' +
          "duration(self.request) != duration('0s') && duration(self.backend) > duration(self.request))"]:
          'backend must not be longer than request',
      }),
    },
  },
})

const atLeast = (field: string, size: number): Schema => ({
  rule: `self.algorithm != '${field}' || !has(self.size) || self.size >= ${size}`,
  messageExpression: `'keys of ' + self.algorithm + ' have ${size} bits or more'`,
  fieldPath: '.size',
})

/** Times that depend on each other, keys of different kinds, an issuer that stays, revisions that grow. */
export const certificates = definition(
  'certificates',
  'Certificate',
  {
    type: 'object',
    required: ['issuer', 'names'],
    properties: {
      issuer: {
        type: 'object',
        required: ['name'],
        properties: { name: text(253), kind: text(64) },
        ...rules({ 'self == oldSelf': 'the issuer never changes' }),
      },
      names: {
        type: 'array',
        maxItems: 100,
        'x-kubernetes-list-type': 'set',
        items: text(253),
        ...rules({
          "self.all(n, !n.startsWith('*.') || n.split('.').size() > 2)": 'no wildcard for a top-level domain',
        }),
      },
      duration: { type: 'string', format: 'duration' },
      renewBefore: { type: 'string', format: 'duration' },
      key: {
        type: 'object',
        properties: {
          algorithm: { type: 'string', enum: ['RSA', 'ECDSA', 'Ed25519'], default: 'RSA' },
          size: { type: 'integer' },
        },
        'x-kubernetes-validations': [
          atLeast('RSA', 2048),
          atLeast('ECDSA', 256),
          {
            rule: "self.algorithm != 'Ed25519' || !has(self.size)",
            message: 'Ed25519 has no sizes',
            reason: 'FieldValueForbidden',
            fieldPath: '.size',
          },
        ],
      },
      keystores: {
        type: 'object',
        properties: { jks: { type: 'boolean' }, pkcs12: { type: 'boolean' } },
        ...rules({
          '[has(self.jks), has(self.pkcs12)].filter(x, x).size() == 1': 'exactly one of jks and pkcs12 must be given',
        }),
      },
    },
    'x-kubernetes-validations': [
      {
        rule: '!has(self.duration) || !has(self.renewBefore) || self.renewBefore < self.duration',
        message: 'must be shorter than duration',
        fieldPath: '.renewBefore',
      },
      { rule: 'oldSelf.hasValue() || !has(self.keystores)', message: 'keystores come later', optionalOldSelf: true },
    ],
  },
  {
    status: {
      type: 'object',
      properties: { revision: { type: 'integer', ...rules({ 'self >= oldSelf': 'revisions grow' }) } },
    },
  },
)
