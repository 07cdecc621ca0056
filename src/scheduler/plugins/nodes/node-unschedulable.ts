/** NodeUnschedulable: rejects cordoned nodes unless the pod tolerates their taint. */
import { isTolerated } from '../../../machinery/selectors/toleration.ts'
import { on, type PodInfo, pluginFactory, skip, unresolvable } from '../../framework/index.ts'

const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }
const cordoned = unresolvable('node(s) were unschedulable')

const toleratesIt = ({ pod }: PodInfo): boolean => isTolerated(taint, pod.spec?.tolerations)

export const nodeUnschedulable = pluginFactory({
  name: 'NodeUnschedulable',
  make: () => ({
    events: [
      on(
        'Node',
        ['Add', 'UpdateTaint'],
        (_, before, after) => (!before || before.spec?.unschedulable === true) && !after?.spec?.unschedulable,
      ),
      on(
        'Pod',
        ['UpdateToleration'],
        (pod, _, after) => after?.metadata.uid === pod.uid && isTolerated(taint, after.spec?.tolerations),
      ),
    ],
    preFilter: (pod) => (toleratesIt(pod) ? skip : { state: undefined }),
    filter: (_state, _pod, { node }) => (node.spec?.unschedulable ? cordoned : undefined),
  }),
})
