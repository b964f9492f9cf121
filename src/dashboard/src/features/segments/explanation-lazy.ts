import { lazy } from 'react'

/** Why a contact is in a segment, or is not. Its code is loaded when it is first shown. */
export const Explanation = lazy(() => import('./explanation.tsx').then(({ Explanation }) => ({ default: Explanation })))
