import assert from 'node:assert/strict'
import test from 'node:test'
import { type SliceSpec, sliceRules } from './slices.ts'

type Rows = readonly (readonly [what: string, over: object, wrong: readonly string[]])[]

const whole = { driver: 'd.example', pool: { name: 'p', generation: 1, resourceSliceCount: 1 }, allNodes: true }
const errorsOf = (over: object, old?: object): string[] =>
  sliceRules({ ...whole, ...over } as SliceSpec, old && ({ ...whole, ...old } as SliceSpec)).map(
    ({ field, message }) => `${field.replace(/^spec\.?/, '')}: ${message}`,
  )
const device = (over: object): object => ({ devices: [{ name: 'a', ...over }] })
const ofDevice = (over: object): string[] => errorsOf(device(over)).map((line) => line.replace(/^devices\[0\]\.?/, ''))
const many = (count: number, over: object = {}): object[] =>
  Array.from({ length: count }, (_, i) => ({ name: `d${i}`, ...over }))
const counters = { counters: { c: { value: '1' } } }
const on = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] }

const onePlace = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'
const ofSlices: Rows = [
  ['available on all nodes', {}, []],
  ['no node selection', { allNodes: undefined }, [`: Required value: ${onePlace}`]],
  [
    'two node selections',
    { nodeName: 'n' },
    [`: Invalid value: "{\`nodeName\`, \`allNodes\`}": ${onePlace}, but multiple fields are set`],
  ],
  [
    'an empty node name',
    { nodeName: '' },
    ['nodeName: Invalid value: "": must be either unset or set to a non-empty string'],
  ],
  [
    'allNodes false',
    { allNodes: false, nodeName: 'n' },
    ['allNodes: Invalid value: false: must be either unset or set to true'],
  ],
  ['available on selected nodes', { allNodes: undefined, nodeSelector: on }, []],
  [
    'two node selector terms',
    { allNodes: undefined, nodeSelector: { nodeSelectorTerms: [{}, {}] } },
    ['nodeSelector.nodeSelectorTerms: Invalid value: [{},{}]: must have exactly one node selector term'],
  ],
  [
    'no node selector terms',
    { allNodes: undefined, nodeSelector: {} },
    [
      'nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term',
      'nodeSelector.nodeSelectorTerms: Invalid value: null: must have exactly one node selector term',
    ],
  ],
  [
    'counters and devices',
    { devices: [], sharedCounters: [] },
    [': Invalid value: "": only one of `sharedCounters` or `devices` is allowed'],
  ],
  ['counters', { sharedCounters: [{ name: 's', ...counters }] }, []],
  [
    'two counter sets without a name',
    { sharedCounters: [{ name: '' }, { name: '', ...counters }] },
    [
      'sharedCounters[0].name: Required value',
      'sharedCounters[0].counters: Required value',
      'sharedCounters[1].name: Required value',
      'sharedCounters[1]: Duplicate value: ""',
    ],
  ],
  ['too many devices', { devices: many(129) }, ['devices: Too many: 129: must have at most 128 items']],
  [
    'too many devices with taints',
    { devices: many(65, { taints: [{ key: 'k', effect: 'None' }] }) },
    ['devices: Too many: 65: must have at most 64 items'],
  ],
  ['a duplicate device name', { devices: [{ name: 'a' }, { name: 'a' }] }, ['devices[1]: Duplicate value: "a"']],
]

for (const [what, over, wrong] of ofSlices) test(`a slice: ${what}`, () => assert.deepEqual(errorsOf(over), wrong))

const ofAttributes: Rows = [
  [
    'one of each type',
    { a: { int: 0 }, b: { bool: false }, c: { string: 'x' }, 'x.example/d': { version: '1.2.3-rc.1+b' } },
    [],
  ],
  ['no value', { a: {} }, ['attributes[a]: Invalid value: "": exactly one value must be specified']],
  [
    'two values',
    { a: { int: 1, bool: true } },
    ['attributes[a]: Invalid value: {"int":1,"bool":true}: exactly one value must be specified'],
  ],
  [
    'an invalid version',
    { a: { version: '1.2' } },
    ['attributes[a].version: Invalid value: "1.2": must be a string compatible with semver.org spec 2.0.0'],
  ],
  ['an empty list', { a: { ints: [] } }, ['attributes[a].ints: Invalid value: []: must not be empty if specified']],
  [
    'a string that is too long',
    { a: { string: 'x'.repeat(65) } },
    ['attributes[a].string: Too long: may not be more than 64 bytes'],
  ],
  ['an empty domain', { '/a': { int: 1 } }, ['attributes: Invalid value: "": the domain must not be empty']],
  [
    'too many values',
    { a: { ints: Array(49).fill(1) } },
    [': Invalid value: 49: the total number of attribute values must not exceed 48'],
  ],
]

for (const [what, attributes, wrong] of ofAttributes)
  test(`attributes of a device: ${what}`, () => assert.deepEqual(ofDevice({ attributes }), wrong))

const placed = { perDeviceNodeSelection: true, allNodes: undefined }
const onePlaceOfDevice =
  'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to ' +
  'true in the ResourceSlice spec'
const ofDevices: Rows = [
  ['a node for each device', { ...placed, ...device({ nodeName: 'n' }) }, []],
  ['no node selection', { ...placed, ...device({}) }, [`devices[0]: Required value: ${onePlaceOfDevice}`]],
  [
    'two node selections',
    { ...placed, ...device({ nodeName: 'n', allNodes: true }) },
    [`devices[0]: Invalid value: "{\`nodeName\`, \`allNodes\`}": ${onePlaceOfDevice}`],
  ],
  [
    'a node without perDeviceNodeSelection',
    device({ allNodes: true }),
    [
      'devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if ' +
        '`perDeviceNodeSelection` is set to true in the ResourceSlice spec',
    ],
  ],
  [
    'taints',
    device({
      taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }, { key: 'k' }, { key: 'k', value: '-', effect: 'Foo' }],
    }),
    [
      'devices[0].taints[1].effect: Required value',
      'devices[0].taints[2].value: Invalid value: "-": a valid label must be an empty string or consist of ' +
        "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. " +
        "'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      'devices[0].taints[2].effect: Unsupported value: "Foo": supported values: "NoExecute", "NoSchedule", "None"',
    ],
  ],
  ['counters', device({ consumesCounters: [{ counterSet: 's', ...counters }] }), []],
  [
    'a duplicate counter set',
    device({ consumesCounters: [{ counterSet: 's', ...counters }, { counterSet: 's' }] }),
    ['devices[0].consumesCounters[1].counters: Required value', 'devices[0].consumesCounters[1]: Duplicate value: "s"'],
  ],
  [
    'binding conditions',
    device({ bindingConditions: ['a', 'a'], bindingFailureConditions: ['a'] }),
    [
      'devices[0].bindingConditions[1]: Duplicate value: "a"',
      'devices[0].bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap ' +
        'with bindingConditions',
    ],
  ],
  [
    'binding conditions without failure conditions',
    device({ bindingConditions: ['a'] }),
    [
      'devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use ' +
        'bindingConditions',
    ],
  ],
]

for (const [what, over, wrong] of ofDevices) test(`a device: ${what}`, () => assert.deepEqual(errorsOf(over), wrong))

const ofPolicies: Rows = [
  ['values', { default: '1', validValues: ['1', '2'] }, []],
  ['no default', { validValues: ['1'] }, ['.default: Required value: required when validValues is defined']],
  [
    'values that are not sorted, one above the capacity',
    { default: '3', validValues: ['2', '1', '11'] },
    [
      '.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
      '.validValues[2]: Invalid value: "11": option is larger than capacity value: 10',
      '.validValues: Invalid value: "3": default value is not valid according to the requestPolicy',
    ],
  ],
  [
    'fractions of the same whole number',
    { default: '100m', validValues: ['100m', '200m'] },
    ['.validValues[1]: Duplicate value: "1"'],
  ],
  [
    'too many values, whose order only is validated',
    { default: '1', validValues: ['1', '1', '2', '3', '4', '5', '6', '7', '8', '12', '9'] },
    [
      '.validValues[10]: Invalid value: "9": values must be sorted in ascending order',
      '.validValues: Too many: 11: must have at most 10 items',
      '.validValues: Invalid value: "1": default value is not valid according to the requestPolicy',
    ],
  ],
  [
    'values and a range',
    { default: '1', validValues: ['1'], validRange: { min: '1' } },
    [
      ': Forbidden: exactly one policy can be specified, cannot specify "validValues" and "validRange" at the ' +
        'same time',
    ],
  ],
  ['a range', { default: '4', validRange: { min: '2', max: '8', step: '2' } }, []],
  [
    'a range without a minimum',
    { default: '1', validRange: { max: '2' } },
    ['.validRange.min: Required value: required when validRange is defined'],
  ],
  [
    'a range with a maximum below the minimum',
    { default: '5', validRange: { min: '6', max: '4' } },
    [
      '.validRange.default: Invalid value: "5": default is less than min: 6',
      '.validRange.max: Invalid value: "6": min is larger than max: 4',
      '.validRange.default: Invalid value: "5": default is more than max: 4',
    ],
  ],
  [
    'a default that is no multiple of the step',
    { default: '3', validRange: { min: '2', max: '8', step: '4' } },
    [
      '.validRange.step: Invalid value: "3": value is not a multiple of a given step (4) from (2)',
      '.validRange.step: Invalid value: "8": value is not a multiple of a given step (4) from (2)',
    ],
  ],
  [
    'a step of zero',
    { default: '2', validRange: { min: '2', step: '0' } },
    ['.validRange.step: Invalid value: "0": must be greater than zero'],
  ],
]

for (const [what, requestPolicy, wrong] of ofPolicies)
  test(`the request policy of a capacity: ${what}`, () =>
    assert.deepEqual(
      ofDevice({ allowMultipleAllocations: true, capacity: { c: { value: '10', requestPolicy } } }).map((line) =>
        line.replace('capacity[c].requestPolicy', ''),
      ),
      wrong,
    ))

test('a device without multiple allocations has no request policy; unchanged devices may stay', () => {
  const one = device({ capacity: { c: { value: '1', requestPolicy: {} } }, taints: [{ key: '-', effect: 'x' }] })
  assert.equal(
    errorsOf(one)[0],
    'devices[0].capacity[c].requestPolicy: Forbidden: allowMultipleAllocations must be true',
  )
  assert.deepEqual(errorsOf(one, one), [])
})
