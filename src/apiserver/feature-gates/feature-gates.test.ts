import assert from 'node:assert/strict'
import { test } from 'node:test'
import { knownGates } from '../../api/features/gates.ts'
import { featureGateFault, featureSettings } from './index.ts'

const cases: readonly (readonly [what: string, values: readonly string[], fault: string | undefined])[] = [
  ['an empty value', [''], undefined],
  ['gates that can be set', ['ClusterTrustBundle=true,WatchList=false', 'AllAlpha=true'], undefined],
  ['spaces around names and values', [' WatchList = false '], undefined],
  ['a gate with the prefix of the component', ['kube:WatchList=false', 'kube:AllBeta=T'], undefined],
  ['a locked gate set to its value', ['DynamicResourceAllocation=true'], undefined],
  ['an unknown gate', ['Nonsense=true'], 'unrecognized feature gate: Nonsense'],
  ['a gate in another letter case', ['watchList=true'], 'unrecognized feature gate: watchList'],
  ['a removed gate', ['PodSecurity=true'], 'unrecognized feature gate: PodSecurity'],
  ['a name of Object.prototype', ['constructor=true'], 'unrecognized feature gate: constructor'],
  [
    'a locked gate',
    ['DynamicResourceAllocation=false'],
    'cannot set feature gate DynamicResourceAllocation to false, feature is locked to true',
  ],
  [
    'two locked gates',
    ['SidecarContainers=false,WinDSR=0'],
    '[cannot set feature gate SidecarContainers to false, feature is locked to true, cannot set feature gate ' +
      'WinDSR to false, feature is locked to true]',
  ],
  [
    'a locked gate that is off',
    ['AllowOverwriteTerminationGracePeriodSeconds=true'],
    'cannot set feature gate AllowOverwriteTerminationGracePeriodSeconds to true, feature is locked to false',
  ],
  ['no value', ['WatchList'], 'missing bool value for WatchList'],
  [
    'no boolean',
    ['WatchList=maybe'],
    'invalid value of WatchList=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax',
  ],
  ['another component', ['wardle:WatchList=true'], 'component not registered: wardle'],
  [
    'gates with and without the prefix of the component',
    ['WatchList=true', 'kube:AllBeta=true'],
    'set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use',
  ],
  ['the last of two values wins', ['WatchList=true', 'WatchList=false'], undefined],
  [
    'a gate whose dependency is disabled',
    ['ClusterTrustBundleProjection=true'],
    'ClusterTrustBundleProjection is enabled, but depends on features that are disabled: [ClusterTrustBundle]',
  ],
  [
    'enabling a stage enables the dependencies of other gates',
    ['ClusterTrustBundleProjection=true,AllBeta=true'],
    undefined,
  ],
  [
    'disabling gates on which others depend',
    ['PodLevelResources=false,DRAResourceClaimDeviceStatus=false,DRADeviceBindingConditions=false'],
    '[DRAResourceClaimGranularStatusAuthorization is enabled, but depends on features that are disabled: ' +
      '[DRAResourceClaimDeviceStatus], InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features ' +
      'that are disabled: [PodLevelResources]]',
  ],
]

for (const [what, values, fault] of cases)
  test(`--feature-gates: ${what}`, () => assert.equal(featureGateFault(values), fault))

test('every gate is in the table once', () => {
  assert.ok(knownGates.size > 230, `${knownGates.size} gates`)
  assert.deepEqual(knownGates.get('ConstrainedImpersonation'), { stage: 'BETA', isOn: true, isLocked: false })
  assert.deepEqual(knownGates.get('KMSv1'), { stage: 'DEPRECATED', isOn: false, isLocked: false })
})

test('--feature-gates: the last value of a gate wins', () => {
  assert.deepEqual(featureSettings(['kube:WatchList=true, AllBeta = f', 'WatchList=0']), {
    WatchList: false,
    AllBeta: false,
  })
})
