"""A robot arm by pytorch_kinematics: where its hand is, its Jacobian, and joint angles that reach a place."""

import pytorch_kinematics as pk
import torch
from common import numbers, show

LINK = '<link name="l{0}"/><joint name="j{0}" type="revolute"><parent link="{1}"/><child link="l{0}"/>{2}</joint>'
links, parent = ['<link name="base"/>'], "base"
for i in range(6):
    axis = ["0 0 1", "0 1 0"][i % 2]
    place = f'<origin xyz="0 0.1 0.3" rpy="0 0 0"/><axis xyz="{axis}"/>'
    place += '<limit lower="-2" upper="2" velocity="1" effort="1"/>'
    links.append(LINK.format(i, parent, place))
    parent = f"l{i}"
urdf = f'<robot name="arm">{"".join(links)}</robot>'

chain = pk.build_serial_chain_from_urdf(urdf, "l5").to(dtype=torch.float64)
angles = (0.4 * numbers(1, 3, 6)).requires_grad_()
hand = chain.forward_kinematics(angles).get_matrix()
show(hand, *torch.autograd.grad((hand[:, :3, 3] ** 2).sum(), angles))
show(chain.jacobian(angles))
transform = pk.Transform3d(
    pos=[0.1, 0.2, 0.3], rot=pk.euler_angles_to_matrix(numbers(2, 1, 3), "XYZ"), dtype=torch.float64
)
show(
    transform.inverse().compose(transform).get_matrix().round(decimals=10), transform.transform_points(numbers(3, 4, 3))
)

goal = pk.Transform3d(matrix=chain.forward_kinematics(numbers(4, 1, 6) * 0.3).get_matrix(), dtype=torch.float64)
ik = pk.PseudoInverseIK(
    chain, retry_configs=torch.zeros(1, 6, dtype=torch.float64), max_iterations=30, num_retries=1, lr=0.5,
    joint_limits=torch.tensor(chain.get_joint_limits(), dtype=torch.float64).T,
)  # fmt: skip
show(ik.solve(goal).solutions)
