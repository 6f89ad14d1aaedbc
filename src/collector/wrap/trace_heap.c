/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/core/trace.h"
